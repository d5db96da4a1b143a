// Maximum duration of a visit to an identity provider; for the seal and for the cookie.

export const BEGUN_SECONDS = 600;
