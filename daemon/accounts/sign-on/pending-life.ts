// Maximum duration of a visit to an identity provider; for the seal and for the cookie.

export const PENDING_SECONDS = 600;
