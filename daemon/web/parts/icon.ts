// Properties of icons that are beside text or inside a labelled button.

export const ICON = { size: 16, strokeWidth: 1.5, 'aria-hidden': true } as const;
