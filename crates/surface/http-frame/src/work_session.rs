//! The session of paid work, from the keys that agents send: requests of one session share a prompt
//! cache, and their cost is shown together.

use axum::http::{HeaderMap, HeaderValue};
use engine::SessionId;
use hmac::{Hmac, KeyInit, Mac};
use ledger_core::OwnerId;
use sha2::Sha256;

/// Headers of agents with the key of a session, by precedence.
const AGENT_HEADERS: [&str; 3] = ["x-claude-code-session-id", "session-id", "x-session-affinity"];

/// The service's own header, which counts after the body's `prompt_cache_key`.
const SERVICE_HEADER: &str = "x-service-session";

/// The keys of a session in the headers of a request. Their length is bounded with the headers'.
#[derive(Debug, Clone, Default)]
pub struct SessionHeaders {
    agent: Option<HeaderValue>,
    service: Option<HeaderValue>,
}

impl SessionHeaders {
    /// Reads the headers; an empty one counts as absent.
    pub fn read(headers: &HeaderMap) -> SessionHeaders {
        let read = |name: &str| headers.get(name).filter(|value| !value.is_empty()).cloned();
        SessionHeaders {
            agent: AGENT_HEADERS.into_iter().find_map(read),
            service: read(SERVICE_HEADER),
        }
    }
}

impl SessionHeaders {
    /// The headers of a stored call, from which [`SessionHeaders::read`] reads the same session.
    pub fn to_pairs(&self) -> Vec<(String, String)> {
        let named = [(AGENT_HEADERS[1], &self.agent), (SERVICE_HEADER, &self.service)];
        let pairs = named.into_iter().filter_map(|(name, value)| {
            Some((name.to_owned(), value.as_ref()?.to_str().ok()?.to_owned()))
        });
        pairs.collect()
    }
}

/// The session of a caller's request.
#[derive(Debug, Clone)]
pub struct WorkSession {
    pub owner: OwnerId,
    pub headers: SessionHeaders,
}

impl WorkSession {
    /// The session of a request, with the `prompt_cache_key` of its body.
    pub(crate) fn find_id(&self, prompt_cache_key: Option<&str>) -> Option<SessionId> {
        let SessionHeaders { agent, service } = &self.headers;
        let in_body = prompt_cache_key.map(str::as_bytes).filter(|key| !key.is_empty());
        let key = agent.as_ref().map(HeaderValue::as_bytes).or(in_body);
        let key = key.or(service.as_ref().map(HeaderValue::as_bytes))?;
        digest_session(self.owner, key)
    }
}

/// HMAC-SHA-256 of the key under the owner's id, cut to 64 bits: two owners with the same key have
/// different sessions. It is in usage rows and decides the routes of sessions, so it never changes.
fn digest_session(owner: OwnerId, key: &[u8]) -> Option<SessionId> {
    let mut digest = Hmac::<Sha256>::new_from_slice(owner.0.as_bytes()).ok()?;
    digest.update(key);
    let bytes = digest.finalize().into_bytes();
    Some(SessionId(u64::from_be_bytes(*bytes.first_chunk()?)))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;
    use uuid::Uuid;

    use super::*;

    fn session_of(owner: u128, headers: &[(&'static str, &str)]) -> WorkSession {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        let owner = OwnerId(Uuid::from_u128(owner));
        WorkSession { owner, headers: SessionHeaders::read(&map) }
    }

    #[test]
    fn the_first_key_of_the_order_counts() {
        let all = [
            ("x-claude-code-session-id", "a"),
            ("session-id", "b"),
            ("x-session-affinity", "c"),
            ("x-service-session", "e"),
        ];
        let plain = |key| session_of(1, &[]).find_id(Some(key));
        for (skipped, key) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
            let in_headers: Vec<_> = all.into_iter().filter(|(_, value)| key <= *value).collect();
            let in_body = (skipped < 4).then_some("d");
            assert_eq!(session_of(1, &in_headers).find_id(in_body), plain(key), "{key}");
            assert!(plain(key).is_some());
        }
    }

    #[test]
    fn a_request_without_a_key_has_no_session() {
        assert_eq!(session_of(1, &[]).find_id(None), None);
        assert_eq!(session_of(1, &[("session-id", "")]).find_id(Some("")), None);
    }

    #[test]
    fn the_same_key_of_another_owner_is_another_session() {
        let headers = [("session-id", "a")];
        let [one, two] = [1, 2].map(|owner| session_of(owner, &headers).find_id(None));
        assert_ne!(one, two);
        assert_eq!(one.map(|id| id.to_string()).as_deref(), Some("357fcd227c792100"));
    }

    #[test]
    fn a_key_may_be_long_and_need_not_be_text() {
        let mut map = HeaderMap::new();
        let bytes = [b"\xff\xfe".as_slice(), &[b'x'; 4096]].concat();
        map.insert("session-id", HeaderValue::from_bytes(&bytes).unwrap());
        let owner = OwnerId(Uuid::from_u128(1));
        let session = WorkSession { owner, headers: SessionHeaders::read(&map) };
        assert!(session.find_id(None).is_some());
    }
}
