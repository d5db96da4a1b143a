// A path of owner and name, as on GitHub and Gitea. It becomes part of names and addresses.

import { z } from 'zod';

export const ownerNameSchema = z
  .string()
  .max(1_000)
  .regex(/^[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/);
