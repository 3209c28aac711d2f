//! Special tokens: languages, tasks, timestamps.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::CONTEXT_TOKENS_MAX;
use crate::runtime::RuntimeError;
use crate::transcription::{TranscriptionError, TranscriptionTask};

pub(super) struct WhisperVocabulary {
    pub(super) start: i64,
    /// The first token after the text tokens.
    pub(super) end: i64,
    pub(super) transcribe: i64,
    /// `None` in models that cannot translate.
    pub(super) translate: Option<i64>,
    /// Precedes the previous text.
    pub(super) previous: i64,
    pub(super) no_speech: i64,
    pub(super) no_times: i64,
    /// The timestamp of 0 s; later ones follow in steps.
    pub(super) times: i64,
    /// Suppressed tokens: special tokens, and noises in brackets.
    pub(super) never: Vec<i64>,
    pub(super) never_first: Vec<i64>,
    /// The layers and heads whose attention follows the spoken word, sorted.
    pub(super) alignment: Vec<(usize, usize)>,
    pub(super) languages: BTreeMap<String, i64>,
}

/// The fields of `generation_config.json`.
#[derive(Deserialize)]
struct GenerationConfig {
    decoder_start_token_id: i64,
    eos_token_id: i64,
    no_timestamps_token_id: i64,
    task_to_id: BTreeMap<String, i64>,
    lang_to_id: BTreeMap<String, i64>,
    suppress_tokens: Vec<i64>,
    begin_suppress_tokens: Vec<i64>,
    #[serde(default)]
    alignment_heads: Vec<(usize, usize)>,
}

impl WhisperVocabulary {
    pub(super) fn load(folder: &Path) -> Result<WhisperVocabulary, TranscriptionError> {
        let file = folder.join("generation_config.json");
        let unreadable = |cause: String| RuntimeError::Model { path: file.clone(), cause };
        let text = fs::read(&file).map_err(|error| unreadable(error.to_string()))?;
        let generation: GenerationConfig =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        let transcribe = generation.task_to_id.get("transcribe").copied();
        let transcribe =
            transcribe.ok_or_else(|| unreadable("no task to transcribe".to_owned()))?;
        let translate = generation.task_to_id.get("translate").copied();
        let code = |mark: String| mark.trim_matches(['<', '|', '>']).to_owned();
        let languages = generation.lang_to_id.into_iter().map(|(mark, it)| (code(mark), it));
        let mut alignment = generation.alignment_heads;
        alignment.sort_unstable();
        Ok(WhisperVocabulary {
            start: generation.decoder_start_token_id,
            end: generation.eos_token_id,
            transcribe,
            translate,
            // The order of special tokens is the same in all multilingual Whisper models.
            previous: generation.no_timestamps_token_id - 2,
            no_speech: generation.no_timestamps_token_id - 1,
            no_times: generation.no_timestamps_token_id,
            times: generation.no_timestamps_token_id + 1,
            never: generation.suppress_tokens,
            never_first: generation.begin_suppress_tokens,
            alignment,
            languages: languages.collect(),
        })
    }

    /// The tokens that precede the output. `context` is the previous text.
    pub(super) fn build_prefix(
        &self,
        task: TranscriptionTask,
        language: i64,
        context: &[i64],
    ) -> Vec<i64> {
        let mut before = Vec::new();
        if !context.is_empty() {
            let first = context.len().saturating_sub(CONTEXT_TOKENS_MAX);
            before.push(self.previous);
            before.extend(&context[first..]);
        }
        let task = match task {
            TranscriptionTask::Transcribe => self.transcribe,
            TranscriptionTask::Translate => self.translate.unwrap_or(self.transcribe),
        };
        before.extend([self.start, language, task]);
        before
    }

    pub(super) fn language_token(&self, code: &str) -> Option<i64> {
        self.languages.get(code).copied()
    }

    pub(super) fn language_code(&self, language: i64) -> Option<&str> {
        let found = self.languages.iter().find(|(_, token)| **token == language);
        found.map(|(code, _)| code.as_str())
    }

    pub(super) fn likeliest_language(&self, logits: &[f32]) -> i64 {
        let logit = |token: i64| token_index(token).and_then(|it| logits.get(it)).copied();
        let scored = self.languages.values().filter_map(|it| Some((*it, logit(*it)?)));
        let best = scored.max_by(|(_, one), (_, other)| one.total_cmp(other));
        best.map_or(self.start + 1, |(language, _)| language)
    }
}

pub(super) fn token_index(token: i64) -> Option<usize> {
    usize::try_from(token).ok()
}
