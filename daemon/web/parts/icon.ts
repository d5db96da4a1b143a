// How pictures look that stand beside words, or are named by their button.

export const ICON = { size: 16, strokeWidth: 1.5, 'aria-hidden': true } as const;
