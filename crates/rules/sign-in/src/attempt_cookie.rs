//! The cookie of a sign-in that has begun.

use crate::attempt::ATTEMPT_LIFETIME_S;

const COOKIE_NAME: &str = "tollgate_sign_in";
/// Browsers accept the prefix only over TLS, for this host alone and all its paths.
const SECURE_COOKIE_NAME: &str = "__Host-tollgate_sign_in";

/// The name of the cookie; `is_secure` if the service is reached over TLS.
pub fn attempt_cookie_name(is_secure: bool) -> &'static str {
    if is_secure { SECURE_COOKIE_NAME } else { COOKIE_NAME }
}

/// The value of `Set-Cookie` for a sealed attempt. It is `SameSite=Lax`, unlike that of the session:
/// the provider's redirect is a navigation from another site, which sends no strict cookies.
pub fn set_attempt_cookie(sealed: &str, is_secure: bool) -> String {
    write_cookie(sealed, ATTEMPT_LIFETIME_S, is_secure)
}

/// The value of `Set-Cookie` that ends an attempt: each is used for one return of the browser.
pub fn clear_attempt_cookie(is_secure: bool) -> String {
    write_cookie("", 0, is_secure)
}

fn write_cookie(value: &str, age_s: u64, is_secure: bool) -> String {
    let name = attempt_cookie_name(is_secure);
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Lax{secure}")
}
