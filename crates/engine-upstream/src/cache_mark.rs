//! The mark on a part up to which the prompt is worth caching; both protocols share it.

use engine::CacheControl;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct CacheMark {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheMark {
    pub(crate) fn of(cache: CacheControl) -> CacheMark {
        let ttl = match cache {
            CacheControl::FiveMinutes => None,
            CacheControl::OneHour => Some("1h"),
        };
        CacheMark { r#type: "ephemeral", ttl }
    }
}
