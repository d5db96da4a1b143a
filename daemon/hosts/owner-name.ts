// A path of owner and name, as GitHub and Gitea have it. It becomes a part of names and addresses.

import { z } from 'zod';

export const ownerNameSchema = z
  .string()
  .max(1_000)
  .regex(/^[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/);
