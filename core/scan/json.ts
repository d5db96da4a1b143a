export function writeJsonString(out: usize, start: usize, end: usize): usize { memory.copy(out,start,end-start); return out+(end-start); }
export function writeDecimal(out: usize, value: u32): usize { store<u8>(out,48); return out+1; }
