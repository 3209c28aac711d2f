//! Tokenizes text for the model.

use std::path::Path;

use tokenizers::Tokenizer;

use super::{EmbeddingError, OverflowPolicy};

/// The longest word that a WordPiece tokenizer looks up: 100 characters of up to four bytes.
const BYTES_PER_TOKEN_MAX: usize = 400;

pub(crate) struct EmbeddingTokenizer {
    tokenizer: Tokenizer,
    vocabulary: u32,
    /// Marker tokens before and after every input.
    first: u32,
    last: u32,
    tokens_max: usize,
}

impl EmbeddingTokenizer {
    pub(crate) fn load(
        folder: &Path,
        tokens_max: usize,
    ) -> Result<EmbeddingTokenizer, EmbeddingError> {
        let file = folder.join("tokenizer.json");
        let failed = |cause: &str| EmbeddingError::Failed(format!("{}: {cause}", file.display()));
        let mut tokenizer =
            Tokenizer::from_file(&file).map_err(|error| failed(&error.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| failed(&error.to_string()))?;
        let mark = |text: &str| tokenizer.token_to_id(text).ok_or_else(|| failed("no such mark"));
        let (first, last) = (mark("[CLS]")?, mark("[SEP]")?);
        let vocabulary = u32::try_from(tokenizer.get_vocab_size(true)).unwrap_or(u32::MAX);
        Ok(EmbeddingTokenizer { tokenizer, vocabulary, first, last, tokens_max })
    }

    pub(crate) fn tokens_max(&self) -> usize {
        self.tokens_max
    }

    pub(crate) fn encode(
        &self,
        index: usize,
        input: &str,
        overflow: OverflowPolicy,
    ) -> Result<Vec<i32>, EmbeddingError> {
        // Tokenizing megabytes takes seconds, so inputs beyond `bytes_max` are truncated or
        // rejected first. An input of mostly spaces may be rejected although it has few tokens;
        // this is accepted.
        let bytes_max = self.tokens_max * BYTES_PER_TOKEN_MAX;
        let is_hopeless = bytes_max < input.len();
        if is_hopeless && overflow == OverflowPolicy::Refuse {
            let tokens = input.len() / BYTES_PER_TOKEN_MAX;
            return Err(EmbeddingError::TooLong { index, tokens, tokens_max: self.tokens_max });
        }
        let input =
            if is_hopeless { &input[..input.floor_char_boundary(bytes_max)] } else { input };
        let encoding = self
            .tokenizer
            .encode_fast(input, false)
            .map_err(|error| EmbeddingError::Failed(format!("tokenizing: {error}")))?;
        self.add_markers(index, encoding.get_ids(), overflow)
    }

    /// Adds the marker tokens, and truncates or rejects inputs that are too long.
    pub(crate) fn add_markers(
        &self,
        index: usize,
        ids: &[u32],
        overflow: OverflowPolicy,
    ) -> Result<Vec<i32>, EmbeddingError> {
        const MARKS: usize = 2;
        let tokens = ids.len() + MARKS;
        let tokens_max = self.tokens_max;
        if tokens_max < tokens && overflow == OverflowPolicy::Refuse {
            return Err(EmbeddingError::TooLong { index, tokens, tokens_max });
        }
        if let Some(unknown) = ids.iter().find(|it| self.vocabulary <= **it) {
            return Err(EmbeddingError::UnknownToken { index, token: *unknown });
        }
        let kept = &ids[..ids.len().min(tokens_max - MARKS)];
        let whole = std::iter::once(&self.first).chain(kept).chain(std::iter::once(&self.last));
        Ok(whole.map(|it| it.cast_signed()).collect())
    }
}
