// Expected counts of the cases, by `corpus@version` and case id, without files whose content the default settings omit.
// `--print-expected` prints such a table.

import type { Counts } from './reference.ts';

type CountTable = Readonly<
  Record<string, readonly [files: number, lines: number, matches: number]>
>;

const EXPECTED: Readonly<Record<string, CountTable>> = {
  'linux@6.1.192-2': {
    PM_RESUME: [13, 39, 39],
    kmalloc: [3476, 7689, 7787],
    EXPORT_SYMBOL_GPL: [3227, 18413, 18413],
    mutex_lock_interruptible: [389, 911, 913],
    return: [40154, 1072488, 1075062],
    Copyright: [48978, 65113, 65122],
    zqjxkv: [0, 0, 0],
    'static int': [23565, 212985, 212986],
    'struct file': [2599, 17001, 17201],
    spin_lock_irqsave: [3726, 17848, 17849],
    TODO: [2775, 5577, 5671],
    'int main': [982, 1048, 1051],
    err_free: [1038, 5244, 5247],
    copyright: [6107, 7940, 7988],
    'if (ret)': [10465, 66198, 66198],
    '(?i)pm_resume': [196, 533, 546],
    '(?i)kmalloc': [3501, 7937, 8070],
    '(?i)copyright': [49181, 78381, 78498],
    '(?i)mutex_lock': [5476, 24581, 24606],
    x: [72370, 6328443, 9755331],
    '->': [33919, 3231767, 3972516],
    '~/': [80, 193, 207],
    '\u00a7': [7, 8, 8],
    kmalloc_zzzq_absent: [0, 0, 0],
    mutex_lock_return_int: [0, 0, 0],
    EXPORT_SYMBOL_interruptible: [0, 0, 0],
    'PM_RESUME kmalloc': [1, 2, 2],
    'mutex_lock_interruptible copy_from_user': [86, 499, 499],
    'PM_RESUME or mutex_lock_interruptible': [402, 950, 952],
    'mutex_lock_interruptible -(kmalloc)': [276, 659, 661],
    'file:^drivers/net/ kmalloc': [390, 753, 755],
    '-file:\\.[ch]$ kmalloc': [89, 381, 413],
    'lang:rust unsafe': [16, 315, 320],
    'file:mutex\\.c$': [11, 0, 11],
    '(?i)copyright.*torvalds': [432, 433, 433],
    'err(no)?\\s*=\\s*-E[A-Z]+;': [3020, 13508, 13508],
    '[A-Z]+_SUSPEND': [1748, 4896, 4983],
    'spin_lock.*irq': [4137, 22440, 22440],
    'static.*inline.*void': [8540, 35930, 35930],
    'kmalloc\\(.*GFP_ATOMIC': [349, 469, 469],
    '^#define\\s+\\w+_MASK\\b': [6973, 432229, 432229],
    'enum\\s+\\w+\\s*\\{[^}]*\\}': [6807, 27996, 27996],
    '\\d{9,}': [4078, 77585, 112355],
    '\\w{5}\\s+\\w{5}\\s+\\w{5}': [45425, 332603, 336980],
    '\\w{5} +\\w{5} +\\w{5} +\\w{5} +\\w{5}': [519, 692, 777],
    'PM_RESUME|PM_SUSPEND|PM_FREEZE|PM_THAW': [145, 499, 531],
    'kmalloc|kzalloc|vmalloc': [13644, 32158, 32516],
    '(get|set)_user_pages?': [98, 282, 287],
    'rg: PM_RESUME': [13, 39, 39],
    'rg: (?i)PM_RESUME': [196, 533, 546],
    'rg: \\bPM_RESUME\\b': [3, 9, 9],
    'rg: [A-Z]+_RESUME': [905, 2141, 2191],
    'rg: \\p{Greek}': [32, 102, 105],
    'rg: (?i)\\p{Greek}': [98, 242, 275],
    'rg: \\wAh': [70, 235, 245],
    'rg: \\w{5}\\s+\\w{5}\\s+\\w{5}\\s+\\w{5}\\s+\\w{5}': [625, 875, 959],
    'rg: ERR_SYS|PME_TURN_OFF|LINK_REQ_RST|CFG_BME_EVT': [27, 103, 104],
    'rg: (?i)ERR_SYS|PME_TURN_OFF|LINK_REQ_RST|CFG_BME_EVT': [69, 200, 201],
  },
};

export function findExpected(corpus: string, caseId: string): Counts | undefined {
  const row = EXPECTED[corpus]?.[caseId];
  return row ? { files: row[0], lines: row[1], matches: row[2] } : undefined;
}

export function expectedCorpora(): string[] {
  return Object.keys(EXPECTED);
}

export function expectedCases(corpus: string): string[] {
  return Object.keys(EXPECTED[corpus] ?? {});
}
