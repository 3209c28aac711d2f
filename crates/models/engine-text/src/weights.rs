//! An opened GGUF file: vocabulary, template and memory requirements.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use llama::{LlamaLibrary, LlamaModel, TokenId};

use crate::constraint::GrammarCompiler;
use crate::scheduler::BATCH_TOKENS_MAX;
use crate::template::{ChatTemplate, SpecialTokens};

/// A shorter context would be useless.
const CONTEXT_TOKENS_MIN: u32 = 512;
/// Keys and values are 16-bit floats.
const CACHE_BYTES_PER_NUMBER: u64 = 2;
/// Computations use 32-bit floats.
const BYTES_PER_NUMBER: u64 = 4;

/// Runtime settings of a model.
#[derive(Debug, Clone, Copy)]
pub struct TextModelSettings {
    /// Computing threads, at most.
    pub threads: usize,
    /// Set to compute with fewer threads while other processes keep cores busy.
    pub adapts_threads: bool,
    /// Maximum concurrent answers.
    pub parallel: u32,
    /// `None`, or a larger value than the model was trained for, uses the trained length.
    pub context_tokens_max: Option<u32>,
    /// Limit of the prompt cache of all slots; shortens the context if necessary.
    pub cache_bytes_max: u64,
}

/// Errors of loading a model.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{} is not there", .0.display())]
    Missing(PathBuf),
    #[error("{} is not a GGUF file that llama.cpp can run: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: String },
    #[error("the chat template of {} is wrong: {cause}", path.display())]
    Template { path: PathBuf, cause: String },
    #[error(
        "there is no room for {context_tokens} tokens of context; allow the engine more memory"
    )]
    Memory { context_tokens: u32 },
    #[error("llama.cpp cannot start the model: {0}")]
    Runtime(String),
}

#[derive(Debug)]
pub struct ModelWeights {
    pub(crate) model: LlamaModel,
    pub(crate) template: ChatTemplate,
    begin: String,
    grammars: OnceLock<Result<GrammarCompiler, String>>,
}

impl ModelWeights {
    /// Reads the vocabulary and loads `gpu_layers` layers to the GPUs. The others are mapped from
    /// the file and paged in on use.
    pub fn open(
        library: &'static LlamaLibrary,
        path: &Path,
        gpu_layers: u32,
    ) -> Result<ModelWeights, LoadError> {
        if !path.is_file() {
            return Err(LoadError::Missing(path.to_owned()));
        }
        let unreadable = |cause: String| LoadError::Unreadable { path: path.to_owned(), cause };
        let model = LlamaModel::open(library, path, gpu_layers)
            .map_err(|error| unreadable(error.to_string()))?;
        let text_of = |token: Option<TokenId>| {
            let bytes = token.map(|token| model.token_bytes(token, true)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let special =
            SpecialTokens { begin: text_of(model.bos_token()), end: text_of(model.eos_token()) };
        let begin = special.begin.clone();
        let template = ChatTemplate::new(model.chat_template().as_deref(), special)
            .map_err(|cause| LoadError::Template { path: path.to_owned(), cause })?;
        Ok(ModelWeights { model, template, begin, grammars: OnceLock::new() })
    }

    /// Context length of each slot, in tokens.
    pub fn context_tokens(&self, settings: &TextModelSettings) -> Result<u32, LoadError> {
        let trained = self.model.trained_tokens();
        let wanted = settings.context_tokens_max.map_or(trained, |most| most.min(trained));
        let every = self.cache_bytes_per_token().saturating_mul(u64::from(settings.parallel));
        let room = settings.cache_bytes_max / every.max(1);
        let context_tokens = wanted.min(u32::try_from(room).unwrap_or(u32::MAX));
        if context_tokens < CONTEXT_TOKENS_MIN.min(wanted) {
            return Err(LoadError::Memory { context_tokens: CONTEXT_TOKENS_MIN.min(wanted) });
        }
        Ok(context_tokens)
    }

    /// Memory of the running model: weights, prompt cache, and compute buffers, which are mostly
    /// logits and attention.
    pub fn memory_bytes(&self, settings: &TextModelSettings) -> Result<u64, LoadError> {
        let context_tokens = u64::from(self.context_tokens(settings)?);
        let tokens = context_tokens * u64::from(settings.parallel);
        let cache = tokens.saturating_mul(self.cache_bytes_per_token());
        let words = u64::try_from(self.model.vocabulary_size()).unwrap_or(0);
        let seen = u64::from(self.model.heads()).saturating_mul(context_tokens);
        let batch = (BATCH_TOKENS_MAX as u64 * BYTES_PER_NUMBER).saturating_mul(words + seen);
        Ok(self.model.bytes().saturating_add(cache).saturating_add(batch))
    }

    /// The part of the memory that is main memory. Layers on GPUs and their caches are in GPU
    /// memory.
    pub fn host_bytes(&self, settings: &TextModelSettings) -> Result<u64, LoadError> {
        let whole = self.memory_bytes(settings)?;
        // The output layer counts as one.
        let parts = u64::from(self.model.layers()) + 1;
        let on_gpus = u64::from(self.model.gpu_layers()).min(parts);
        Ok(whole / parts * (parts - on_gpus))
    }

    /// True if the model was trained to call tools in a supported format.
    pub fn has_tool_calls(&self) -> bool {
        self.template.has_tool_calls()
    }

    pub(crate) fn tokens_of(&self, text: &str) -> Vec<TokenId> {
        let adds_begin = self.model.adds_begin();
        // Many templates write the begin-of-text token themselves; a second one confuses the model.
        let text = match text.strip_prefix(self.begin.as_str()) {
            Some(rest) if adds_begin && !self.begin.is_empty() => rest,
            _ => text,
        };
        self.model.tokenize(text, true, true)
    }

    /// Tokens for filling in the middle; `None` if the model was not trained for it.
    pub(crate) fn tokens_around(&self, before: &str, after: &str) -> Option<Vec<TokenId>> {
        let [prefix, suffix, middle] = self.model.fill_in_middle_tokens()?;
        let mut tokens = vec![prefix];
        tokens.extend(self.model.tokenize(before, false, false));
        tokens.push(suffix);
        tokens.extend(self.model.tokenize(after, false, false));
        tokens.push(middle);
        Some(tokens)
    }

    /// A token's bytes in an answer; empty for special tokens.
    pub(crate) fn bytes_of(&self, token: u32) -> Vec<u8> {
        self.model.token_bytes(token_from_number(token), false)
    }

    pub(crate) fn ends_answer(&self, token: u32) -> bool {
        self.model.is_end(token_from_number(token))
    }

    /// Created on first use: most answers are unconstrained.
    pub(crate) fn grammars(&self) -> Result<&GrammarCompiler, String> {
        let grammars = self.grammars.get_or_init(|| GrammarCompiler::new(&self.model));
        grammars.as_ref().map_err(String::clone)
    }

    fn cache_bytes_per_token(&self) -> u64 {
        let model = &self.model;
        let heads = u64::from(model.kv_heads());
        let usual = u64::from(model.embedding_width()) / u64::from(model.heads().max(1));
        let numbers = self.head_size("key_length", usual) + self.head_size("value_length", usual);
        u64::from(model.layers()) * heads * numbers * CACHE_BYTES_PER_NUMBER
    }

    fn head_size(&self, name: &str, usual: u64) -> u64 {
        let architecture = self.model.metadata_value("general.architecture").unwrap_or_default();
        let said = self.model.metadata_value(&format!("{architecture}.attention.{name}"));
        said.and_then(|size| size.parse().ok()).unwrap_or(usual)
    }
}

pub(crate) fn token_from_number(token: u32) -> TokenId {
    TokenId(i32::try_from(token).unwrap_or(-1))
}

pub(crate) fn token_number(token: TokenId) -> u32 {
    u32::try_from(token.0).unwrap_or(u32::MAX)
}
