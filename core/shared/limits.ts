export const PAGE_SIZE: u32 = 65536;
