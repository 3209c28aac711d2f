//! A slot of the prompt cache: its cached tokens and its current work.

use llama::TokenId;

use super::ChoiceTask;
use super::plan::SlotWork;

#[derive(Debug)]
pub(crate) struct CacheSlot {
    /// llama.cpp's sequence id.
    pub(crate) sequence: i32,
    capacity: usize,
    /// Tokens in the cache, from position 0.
    pub(crate) read: Vec<TokenId>,
    /// The prompt and the generated tokens; the first `read.len()` of them are processed.
    text: Vec<TokenId>,
    cache_key: Option<String>,
    begun: u64,
    pub(crate) work: Option<ChoiceTask>,
}

impl CacheSlot {
    pub(crate) fn new(sequence: i32, capacity: usize) -> CacheSlot {
        CacheSlot {
            sequence,
            capacity,
            read: Vec::new(),
            text: Vec::new(),
            cache_key: None,
            begun: 0,
            work: None,
        }
    }

    /// Number of cached tokens of a prompt. The last token is always processed again for its
    /// logits.
    pub(crate) fn common_with(&self, prompt: &[TokenId]) -> usize {
        let common = self.read.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        common.min(prompt.len().saturating_sub(1))
    }

    pub(crate) fn start_task(&mut self, mut task: ChoiceTask, kept: usize, begun: u64) {
        self.read.truncate(kept);
        self.text = std::mem::take(&mut task.prompt);
        self.cache_key = task.cache_key.take();
        self.begun = begun;
        task.writer.note_cached(kept);
        self.work = Some(task);
    }

    pub(crate) fn next_work(&self) -> SlotWork {
        let unread = self.text.len().saturating_sub(self.read.len());
        match &self.work {
            None => SlotWork::Nothing,
            Some(_) if unread == 1 => SlotWork::Writing,
            Some(_) => SlotWork::Reading { tokens: unread, begun: self.begun },
        }
    }

    /// The next tokens with their positions; true marks the last unprocessed one.
    pub(crate) fn next_tokens(
        &self,
        tokens: usize,
    ) -> impl Iterator<Item = (i32, TokenId, bool)> + '_ {
        let unread = self.text.iter().enumerate().skip(self.read.len());
        unread.take(tokens).map(|(position, token)| {
            let is_last = position + 1 == self.text.len();
            (i32::try_from(position).unwrap_or(i32::MAX), *token, is_last)
        })
    }

    /// Records processed tokens; true if none are left.
    pub(crate) fn advance(&mut self, tokens: usize) -> bool {
        let until = (self.read.len() + tokens).min(self.text.len());
        self.read.extend_from_slice(&self.text[self.read.len()..until]);
        self.read.len() == self.text.len()
    }

    /// Appends a generated token. The writer stops before the context is full.
    pub(crate) fn push_token(&mut self, token: TokenId) {
        debug_assert!(self.text.len() < self.capacity, "the writer knows how much fits");
        self.text.push(token);
    }

    /// Ends the work. Cached tokens stay for a request with the same prefix.
    pub(crate) fn end_task(&mut self) {
        self.work = None;
        self.text.clear();
    }
}

/// Selects the free slot that loses least: one with the same key and a part of the prompt;
/// otherwise one with most of the prompt; otherwise the least recently used.
pub(crate) fn choose_slot(
    slots: &[CacheSlot],
    prompt: &[TokenId],
    key: Option<&str>,
) -> Option<usize> {
    let free = || slots.iter().enumerate().filter(|(_, slot)| slot.work.is_none());
    let by_common = |(_, slot): &(usize, &CacheSlot)| slot.common_with(prompt);
    let keyed = free().filter(|(_, slot)| key.is_some() && slot.cache_key.as_deref() == key);
    let keyed = keyed.filter(|it| 0 < by_common(it)).max_by_key(by_common);
    // At least three quarters of the prompt, or half of the slot's tokens: with less, overwriting
    // would lose more than it saves.
    let is_alike = |common: usize, slot: &CacheSlot| {
        0 < common && (prompt.len() * 3 <= common * 4 || slot.read.len() <= common * 2)
    };
    let alike = free().filter(|it| is_alike(by_common(it), it.1)).max_by_key(by_common);
    let oldest = free().min_by_key(|(_, slot)| slot.begun);
    keyed.or(alike).or(oldest).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A free slot with these cached tokens and key.
    fn slot(read: &str, key: Option<&str>, begun: u64) -> CacheSlot {
        let read = tokens(read);
        CacheSlot { read, cache_key: key.map(str::to_owned), begun, ..CacheSlot::new(0, 100) }
    }

    fn tokens(text: &str) -> Vec<TokenId> {
        text.bytes().map(|byte| TokenId(i32::from(byte))).collect()
    }

    #[track_caller]
    fn check(slots: &[CacheSlot], prompt: &str, key: Option<&str>, expected: usize) {
        assert_eq!(choose_slot(slots, &tokens(prompt), key), Some(expected));
    }

    #[test]
    fn the_longest_common_beginning_wins() {
        let slots = [slot("ab", None, 1), slot("abcd", None, 2), slot("xyz", None, 3)];
        check(&slots, "abcde", None, 1);
    }

    #[test]
    fn a_key_is_preferred_to_a_longer_beginning() {
        let slots = [slot("ab", Some("k"), 1), slot("abcd", None, 2)];
        check(&slots, "abcde", Some("k"), 0);
        check(&slots, "abcde", Some("other"), 1);
    }

    #[test]
    fn a_long_text_is_not_thrown_away_for_a_short_beginning() {
        let slots = [slot("abcdefgh", None, 1), slot("", None, 0)];
        check(&slots, "abXY", None, 1);
    }

    #[test]
    fn a_prompt_that_is_asked_again_finds_itself_before_its_answer() {
        let slots = [slot("abcdANSWERANSWER", None, 1), slot("", None, 0)];
        check(&slots, "abcd", None, 0);
    }

    #[test]
    fn what_nobody_used_for_longest_goes_first() {
        let slots = [slot("abc", None, 5), slot("def", None, 3), slot("ghi", None, 4)];
        check(&slots, "xyz", None, 1);
    }

    #[test]
    fn the_last_token_of_a_prompt_is_always_read() {
        assert_eq!(slot("abc", None, 1).common_with(&tokens("abc")), 2);
        assert_eq!(slot("abc", None, 1).common_with(&tokens("abcd")), 3);
        assert_eq!(slot("abc", None, 1).common_with(&tokens("axc")), 1);
    }

    #[test]
    fn reading_goes_on_where_it_ended() {
        let mut slot = CacheSlot { text: tokens("abcd"), ..slot("ab", None, 1) };
        let next: Vec<_> = slot.next_tokens(1).collect();
        assert_eq!(next, [(2, TokenId(i32::from(b'c')), false)]);
        assert!(!slot.advance(1));
        let next: Vec<_> = slot.next_tokens(5).collect();
        assert_eq!(next, [(3, TokenId(i32::from(b'd')), true)]);
        assert!(slot.advance(1));
    }
}
