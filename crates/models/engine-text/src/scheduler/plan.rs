//! Divides a batch between slots that process their prompt and slots that generate.

/// Prompt tokens per batch while other slots generate; limits the delay of their next token.
const PROMPT_TOKENS_BESIDE_WRITERS: usize = 64;

/// The next work of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotWork {
    Nothing,
    /// The token it generated last.
    Writing,
    /// The rest of its prompt; `begun` is the request's number in order of arrival.
    Reading {
        tokens: usize,
        begun: u64,
    },
}

/// A slot's part of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchShare {
    pub(crate) slot: usize,
    pub(crate) tokens: usize,
}

/// Every generating slot gets its token; the rest goes to prompts in order of arrival.
pub(crate) fn plan_shares(
    slots: impl Iterator<Item = SlotWork>,
    batch_tokens_max: usize,
) -> Vec<BatchShare> {
    let mut shares = Vec::new();
    let mut readers = Vec::new();
    for (slot, ahead) in slots.enumerate() {
        match ahead {
            SlotWork::Nothing => {}
            SlotWork::Writing => shares.push(BatchShare { slot, tokens: 1 }),
            SlotWork::Reading { tokens, begun } => readers.push((begun, slot, tokens)),
        }
    }
    readers.sort_unstable();
    let room = batch_tokens_max.saturating_sub(shares.len());
    let mut left = if shares.is_empty() { room } else { room.min(PROMPT_TOKENS_BESIDE_WRITERS) };
    for (_, slot, tokens) in readers {
        let tokens = tokens.min(left);
        if 0 < tokens {
            shares.push(BatchShare { slot, tokens });
        }
        left -= tokens;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(slots: &[SlotWork], expected: &[(usize, usize)]) {
        let shares = plan_shares(slots.iter().copied(), 512);
        let shares: Vec<_> = shares.iter().map(|it| (it.slot, it.tokens)).collect();
        assert_eq!(shares, expected);
    }

    const fn reading(tokens: usize, begun: u64) -> SlotWork {
        SlotWork::Reading { tokens, begun }
    }

    #[test]
    fn prompts_alone_fill_the_batch_in_the_order_they_came() {
        check(&[reading(300, 2), SlotWork::Nothing, reading(400, 1)], &[(2, 400), (0, 112)]);
    }

    #[test]
    fn beside_writers_prompts_are_read_in_small_pieces() {
        check(&[SlotWork::Writing, reading(400, 1), reading(10, 2)], &[(0, 1), (1, 64)]);
        check(&[SlotWork::Writing, reading(60, 1), reading(10, 2)], &[(0, 1), (1, 60), (2, 4)]);
    }

    #[test]
    fn writers_always_get_their_token() {
        check(&[SlotWork::Writing, SlotWork::Writing], &[(0, 1), (1, 1)]);
        check(&[], &[]);
    }
}
