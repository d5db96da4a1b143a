// How long somebody may take at an identity provider; for the seal and for the cookie.

export const BEGUN_SECONDS = 600;
