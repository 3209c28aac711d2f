//! The ids that enclaves gave their answers, with which signatures can be requested.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Entries kept. Enclaves delete their signatures within the hour, so older ones are useless.
const NAMES_MAX: usize = 10_000;

/// Upstream ids by our request ids; the oldest are removed.
#[derive(Default)]
pub struct UpstreamAnswerIds {
    names: Mutex<AnswerIdTable>,
}

#[derive(Default)]
struct AnswerIdTable {
    by_request: HashMap<String, String>,
    oldest_first: VecDeque<String>,
}

impl UpstreamAnswerIds {
    pub(crate) fn record_upstream_id(&self, request_id: &str, upstream_id: String) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.oldest_first.len() == NAMES_MAX
            && let Some(oldest) = names.oldest_first.pop_front()
        {
            names.by_request.remove(&oldest);
        }
        names.oldest_first.push_back(request_id.to_owned());
        names.by_request.insert(request_id.to_owned(), upstream_id);
    }

    pub fn find(&self, request_id: &str) -> Option<String> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.by_request.get(request_id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_name_makes_room() {
        let names = UpstreamAnswerIds::default();
        for index in 0..=NAMES_MAX {
            names.record_upstream_id(&index.to_string(), format!("up-{index}"));
        }
        assert_eq!(names.find("0"), None);
        assert_eq!(names.find("1").as_deref(), Some("up-1"));
        assert_eq!(names.find(&NAMES_MAX.to_string()), Some(format!("up-{NAMES_MAX}")));
    }
}
