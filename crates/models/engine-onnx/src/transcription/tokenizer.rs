//! Converts text to token ids and back.

use std::path::Path;

use tokenizers::Tokenizer;

use super::TranscriptionError;

pub(super) struct TranscriptTokenizer(Tokenizer);

impl TranscriptTokenizer {
    pub(super) fn load(folder: &Path) -> Result<TranscriptTokenizer, TranscriptionError> {
        let file = folder.join("tokenizer.json");
        let failed = |error: tokenizers::Error| {
            TranscriptionError::Failed(format!("{}: {error}", file.display()))
        };
        Tokenizer::from_file(&file).map(TranscriptTokenizer).map_err(failed)
    }

    /// The tokens of a text, without marker tokens.
    pub(super) fn encode_text(&self, text: &str) -> Result<Vec<i64>, TranscriptionError> {
        let failed = |error: tokenizers::Error| TranscriptionError::Failed(error.to_string());
        let encoded = self.0.encode_fast(text, false).map_err(failed)?;
        Ok(encoded.get_ids().iter().map(|id| i64::from(*id)).collect())
    }

    /// The text of tokens; marker tokens are skipped.
    pub(super) fn decode_tokens(&self, tokens: &[i64]) -> Result<String, TranscriptionError> {
        let ids: Vec<u32> = tokens.iter().filter_map(|it| u32::try_from(*it).ok()).collect();
        let failed = |error: tokenizers::Error| TranscriptionError::Failed(error.to_string());
        self.0.decode(&ids, true).map_err(failed)
    }
}
