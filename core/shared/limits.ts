export const PAGE_SIZE = 65536;
