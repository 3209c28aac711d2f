//! A GGUF file opened by the library, and its vocabulary.

use std::ffi::CString;
use std::path::Path;
use std::ptr::NonNull;

use crate::TokenId;
use crate::bindings::{Functions, ggml_backend_dev_t, llama_model, llama_vocab};
use crate::library::{LlamaLibrary, text_of};

/// Metadata strings are truncated to this.
const VALUE_BYTES_MAX: usize = 1 << 16;
/// Initial buffer of a token's text; most tokens are shorter.
const PIECE_BYTES: usize = 32;

/// Opened once; several contexts may use it at the same time.
#[derive(Debug)]
pub struct LlamaModel {
    library: &'static LlamaLibrary,
    raw: NonNull<llama_model>,
    vocabulary: NonNull<llama_vocab>,
    words: i32,
    gpu_layers: u32,
}

/// Errors of opening a file.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("its path is not text")]
    Path,
    #[error("the library refused it; the log says why")]
    Refused,
    #[error("it has no vocabulary")]
    NoVocabulary,
}

#[expect(unsafe_code, reason = "the library says which of its functions threads may share")]
// SAFETY: a loaded model is not modified; the library's own server shares it between threads.
unsafe impl Send for LlamaModel {}
#[expect(unsafe_code, reason = "the library says which of its functions threads may share")]
// SAFETY: all functions that are called here take the model as constant.
unsafe impl Sync for LlamaModel {}

/// Calls a function of the library on the vocabulary or the model.
macro_rules! ask {
    ($self:ident.$function:ident($($argument:ident),*)) => {{
        // SAFETY: the pointers are the library's own, from a model that lives as long as `self`.
        #[expect(unsafe_code, reason = "calls into the library")]
        let answer = unsafe { $self.functions().$function($($self.$argument.as_ptr()),*) };
        answer
    }};
}

impl LlamaModel {
    /// Reads the vocabulary and loads `gpu_layers` layers to the GPUs, the last ones first; one
    /// more than the model has also loads the output layer. The others are mapped from the file and
    /// paged in on use.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn open(
        library: &'static LlamaLibrary,
        path: &Path,
        gpu_layers: u32,
    ) -> Result<LlamaModel, ModelError> {
        let path = path.to_str().and_then(|it| CString::new(it).ok()).ok_or(ModelError::Path)?;
        let functions = &library.functions;
        // An empty device list keeps the model off GPUs entirely.
        let mut no_devices: [ggml_backend_dev_t; 1] = [std::ptr::null_mut()];
        // SAFETY: the path is zero-terminated and lives through the call, as does the list; the
        // other parameters are the library's own.
        let raw = unsafe {
            let mut parameters = functions.llama_model_default_params();
            parameters.n_gpu_layers = i32::try_from(gpu_layers).unwrap_or(i32::MAX);
            if gpu_layers == 0 {
                parameters.devices = no_devices.as_mut_ptr();
            }
            functions.llama_model_load_from_file(path.as_ptr(), parameters)
        };
        let raw = NonNull::new(raw).ok_or(ModelError::Refused)?;
        // SAFETY: the model was just loaded; its vocabulary is a part of it.
        let vocabulary = unsafe { functions.llama_model_get_vocab(raw.as_ptr()) };
        let Some(vocabulary) = NonNull::new(vocabulary.cast_mut()) else {
            // SAFETY: this is the only owner.
            unsafe { functions.llama_model_free(raw.as_ptr()) };
            return Err(ModelError::NoVocabulary);
        };
        // SAFETY: the vocabulary belongs to the model, which is alive.
        let words = unsafe { functions.llama_vocab_n_tokens(vocabulary.as_ptr()) };
        Ok(LlamaModel { library, raw, vocabulary, words, gpu_layers })
    }

    pub(crate) fn functions(&self) -> &'static Functions {
        &self.library.functions
    }

    pub(crate) fn raw(&self) -> *mut llama_model {
        self.raw.as_ptr()
    }

    /// Number of tokens in the vocabulary.
    pub fn vocabulary_size(&self) -> usize {
        usize::try_from(self.words).unwrap_or(0)
    }

    /// Size of the weights in bytes.
    pub fn bytes(&self) -> u64 {
        ask!(self.llama_model_size(raw))
    }

    /// Context length in tokens that the model was trained for.
    pub fn trained_tokens(&self) -> u32 {
        to_count(ask!(self.llama_model_n_ctx_train(raw)))
    }

    pub fn layers(&self) -> u32 {
        to_count(ask!(self.llama_model_n_layer(raw)))
    }

    /// The number of layers requested for GPUs.
    pub fn gpu_layers(&self) -> u32 {
        self.gpu_layers
    }

    pub fn heads(&self) -> u32 {
        to_count(ask!(self.llama_model_n_head(raw)))
    }

    /// Heads whose keys and values are cached.
    pub fn kv_heads(&self) -> u32 {
        to_count(ask!(self.llama_model_n_head_kv(raw)))
    }

    /// Length of an embedding vector.
    pub fn embedding_width(&self) -> u32 {
        to_count(ask!(self.llama_model_n_embd(raw)))
    }

    /// The file's Jinja chat template, if it has one.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn chat_template(&self) -> Option<String> {
        // SAFETY: a null name requests the default template; the string belongs to the model.
        text_of(unsafe {
            self.functions().llama_model_chat_template(self.raw.as_ptr(), std::ptr::null())
        })
    }

    /// A metadata value of the file, as text.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn metadata_value(&self, key: &str) -> Option<String> {
        let key = CString::new(key).ok()?;
        let mut bytes = vec![0_u8; VALUE_BYTES_MAX];
        // SAFETY: the key is zero-terminated; the library writes at most the length of the buffer.
        let length = unsafe {
            self.functions().llama_model_meta_val_str(
                self.raw.as_ptr(),
                key.as_ptr(),
                bytes.as_mut_ptr().cast(),
                bytes.len(),
            )
        };
        bytes.truncate(usize::try_from(length).ok()?);
        String::from_utf8(bytes).ok()
    }

    /// The begin-of-text token, if there is one.
    pub fn bos_token(&self) -> Option<TokenId> {
        to_token(ask!(self.llama_vocab_bos(vocabulary)))
    }

    pub fn eos_token(&self) -> Option<TokenId> {
        to_token(ask!(self.llama_vocab_eos(vocabulary)))
    }

    /// The end-of-turn token of chats.
    pub fn end_of_turn(&self) -> Option<TokenId> {
        to_token(ask!(self.llama_vocab_eot(vocabulary)))
    }

    /// True if every text starts with the begin-of-text token.
    pub fn adds_begin(&self) -> bool {
        ask!(self.llama_vocab_get_add_bos(vocabulary))
    }

    /// The fill-in-the-middle tokens: prefix, suffix, middle.
    pub fn fill_in_middle_tokens(&self) -> Option<[TokenId; 3]> {
        Some([
            to_token(ask!(self.llama_vocab_fim_pre(vocabulary)))?,
            to_token(ask!(self.llama_vocab_fim_suf(vocabulary)))?,
            to_token(ask!(self.llama_vocab_fim_mid(vocabulary)))?,
        ])
    }

    /// True if a token ends the generation.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn is_end(&self, token: TokenId) -> bool {
        // SAFETY: the token is in the vocabulary.
        self.has_token(token)
            && unsafe { self.functions().llama_vocab_is_eog(self.vocabulary.as_ptr(), token.0) }
    }

    /// Tokenizes a text. `adds_special` adds the special tokens around it that the model requires;
    /// `reads_special` parses names of special tokens in the text.
    pub fn tokenize(&self, text: &str, adds_special: bool, reads_special: bool) -> Vec<TokenId> {
        let mut tokens = vec![0_i32; text.len() / 2 + 8];
        let mut found = self.tokenize_into(text, &mut tokens, adds_special, reads_special);
        if found < 0 {
            // The buffer is too small: the result is the negative of the required length.
            tokens.resize(usize::try_from(found.unsigned_abs()).unwrap_or(0), 0);
            found = self.tokenize_into(text, &mut tokens, adds_special, reads_special);
        }
        tokens.truncate(usize::try_from(found).unwrap_or(0));
        tokens.into_iter().map(TokenId).collect()
    }

    #[expect(unsafe_code, reason = "calls into the library")]
    fn tokenize_into(&self, text: &str, tokens: &mut [i32], adds: bool, reads: bool) -> i32 {
        // Texts longer than the library can count were rejected earlier.
        let Ok(bytes) = i32::try_from(text.len()) else { return 0 };
        let room = i32::try_from(tokens.len()).unwrap_or(i32::MAX);
        let vocabulary = self.vocabulary.as_ptr();
        // SAFETY: the lengths are those of the two buffers.
        unsafe {
            self.functions().llama_tokenize(
                vocabulary,
                text.as_ptr().cast(),
                bytes,
                tokens.as_mut_ptr(),
                room,
                adds,
                reads,
            )
        }
    }

    /// A token's bytes; empty for special tokens unless `shows_special`.
    pub fn token_bytes(&self, token: TokenId, shows_special: bool) -> Vec<u8> {
        if !self.has_token(token) {
            return Vec::new();
        }
        let mut bytes = vec![0; PIECE_BYTES];
        let mut length = self.token_bytes_into(token, &mut bytes, shows_special);
        if length < 0 {
            bytes.resize(usize::try_from(length.unsigned_abs()).unwrap_or(0), 0);
            length = self.token_bytes_into(token, &mut bytes, shows_special);
        }
        bytes.truncate(usize::try_from(length).unwrap_or(0));
        bytes
    }

    #[expect(unsafe_code, reason = "calls into the library")]
    fn token_bytes_into(&self, token: TokenId, bytes: &mut [u8], shows_special: bool) -> i32 {
        let room = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        let vocabulary = self.vocabulary.as_ptr();
        // SAFETY: the token is in the vocabulary, and the length is the buffer's.
        unsafe {
            self.functions().llama_token_to_piece(
                vocabulary,
                token.0,
                bytes.as_mut_ptr().cast(),
                room,
                0,
                shows_special,
            )
        }
    }

    fn has_token(&self, token: TokenId) -> bool {
        (0..self.words).contains(&token.0)
    }
}

impl Drop for LlamaModel {
    #[expect(unsafe_code, reason = "calls into the library")]
    fn drop(&mut self) {
        // SAFETY: contexts borrow their model, so none is left.
        unsafe { self.functions().llama_model_free(self.raw.as_ptr()) }
    }
}

fn to_count(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// The library uses negative ids for missing tokens.
fn to_token(number: i32) -> Option<TokenId> {
    (0 <= number).then_some(TokenId(number))
}
