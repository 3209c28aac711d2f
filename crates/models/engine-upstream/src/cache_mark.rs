//! The `cache_control` marker at the end of a cacheable prompt prefix; common to both protocols.

use engine::CacheControl;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct CacheMark {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheMark {
    pub(crate) fn from_control(cache: CacheControl) -> CacheMark {
        let ttl = match cache {
            CacheControl::FiveMinutes => None,
            CacheControl::OneHour => Some("1h"),
        };
        CacheMark { r#type: "ephemeral", ttl }
    }
}
