// The state of each card: opened lines and folding. Kept outside the cards, since cards far from the window are
// unmounted.

import { create } from 'zustand';
import { type CardState, NEW_CARD } from './card-rows.ts';

export type Cards = ReadonlyMap<string, CardState>;

interface CardsView {
  readonly cards: Cards;
  readonly change: (key: string, change: (before: CardState) => CardState) => void;
}

export const useCards = create<CardsView>()((set) => ({
  cards: new Map(),
  change: (key, change) =>
    set(({ cards }) => ({ cards: new Map(cards).set(key, change(cards.get(key) ?? NEW_CARD)) })),
}));

export function useCard(key: string): CardState {
  return useCards(({ cards }) => cards.get(key) ?? NEW_CARD);
}

export function setCards(cards: Cards): void {
  useCards.setState({ cards });
}
