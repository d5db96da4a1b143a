// The parameters of a file's address, in their order.

import { useAddressParameters } from '../data/address-parameters.ts';

const PARAMETERS = ['highlightRange', 'blame', 'view', 'explore', 'scope', 'panel', 'query'];

export const useFileParameters = () => useAddressParameters(PARAMETERS);
