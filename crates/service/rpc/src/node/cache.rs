//! A cache of results that never change, bounded by bytes.
//!
//! Two generations instead of an LRU list: when the younger one is full it replaces the older one,
//! which is dropped. A hit moves an entry to the younger one, so a dropped entry was not used while
//! half of the cache was filled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of each generation.
const GENERATION_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Largest result, so that one cannot evict all others.
const RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Approximate overhead of an entry besides its texts.
const ENTRY_BYTES: usize = 160;

#[derive(Debug, Default)]
pub(super) struct ResultCache {
    /// Locked only to look up or insert, never across an await.
    generations: Mutex<CacheGenerations>,
}

/// The key of a result: network, method, and parameters byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ResultKey {
    pub(super) network: &'static str,
    pub(super) method: &'static str,
    pub(super) params: String,
}

#[derive(Debug, Default)]
struct CacheGenerations {
    young: HashMap<ResultKey, Arc<str>>,
    young_bytes: usize,
    old: HashMap<ResultKey, Arc<str>>,
}

impl ResultCache {
    pub(super) fn get(&self, question: &ResultKey) -> Option<Arc<str>> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = generations.young.get(question) {
            return Some(Arc::clone(result));
        }
        let (question, result) = generations.old.remove_entry(question)?;
        generations.put(question, Arc::clone(&result));
        Some(result)
    }

    pub(super) fn put(&self, question: ResultKey, result: &str) {
        if RESULT_BYTES_MAX < question.params.len() + result.len() {
            return;
        }
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.put(question, Arc::from(result));
    }
}

impl CacheGenerations {
    fn put(&mut self, question: ResultKey, result: Arc<str>) {
        let bytes = ENTRY_BYTES + question.params.len() + result.len();
        if GENERATION_BYTES_MAX < self.young_bytes + bytes {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(question, result).is_none() {
            self.young_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests;
