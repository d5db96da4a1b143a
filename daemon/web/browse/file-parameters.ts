// The parameters of the address of a file, in their order.

import { useAddressParameters } from '../data/address-parameters.ts';

const PARAMETERS = ['highlightRange', 'blame', 'view', 'explore', 'scope', 'panel', 'query'];

export const useFileParameters = () => useAddressParameters(PARAMETERS);
