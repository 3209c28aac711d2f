//! The C interface of llama.cpp as far as it is used, made by scripts/bindings.sh.

pub const GGML_TYPE_F32: ggml_type = 0;
pub const GGML_TYPE_F16: ggml_type = 1;
pub const GGML_TYPE_Q4_0: ggml_type = 2;
pub const GGML_TYPE_Q4_1: ggml_type = 3;
pub const GGML_TYPE_Q5_0: ggml_type = 6;
pub const GGML_TYPE_Q5_1: ggml_type = 7;
pub const GGML_TYPE_Q8_0: ggml_type = 8;
pub const GGML_TYPE_Q8_1: ggml_type = 9;
pub const GGML_TYPE_Q2_K: ggml_type = 10;
pub const GGML_TYPE_Q3_K: ggml_type = 11;
pub const GGML_TYPE_Q4_K: ggml_type = 12;
pub const GGML_TYPE_Q5_K: ggml_type = 13;
pub const GGML_TYPE_Q6_K: ggml_type = 14;
pub const GGML_TYPE_Q8_K: ggml_type = 15;
pub const GGML_TYPE_IQ2_XXS: ggml_type = 16;
pub const GGML_TYPE_IQ2_XS: ggml_type = 17;
pub const GGML_TYPE_IQ3_XXS: ggml_type = 18;
pub const GGML_TYPE_IQ1_S: ggml_type = 19;
pub const GGML_TYPE_IQ4_NL: ggml_type = 20;
pub const GGML_TYPE_IQ3_S: ggml_type = 21;
pub const GGML_TYPE_IQ2_S: ggml_type = 22;
pub const GGML_TYPE_IQ4_XS: ggml_type = 23;
pub const GGML_TYPE_I8: ggml_type = 24;
pub const GGML_TYPE_I16: ggml_type = 25;
pub const GGML_TYPE_I32: ggml_type = 26;
pub const GGML_TYPE_I64: ggml_type = 27;
pub const GGML_TYPE_F64: ggml_type = 28;
pub const GGML_TYPE_IQ1_M: ggml_type = 29;
pub const GGML_TYPE_BF16: ggml_type = 30;
pub const GGML_TYPE_TQ1_0: ggml_type = 34;
pub const GGML_TYPE_TQ2_0: ggml_type = 35;
pub const GGML_TYPE_MXFP4: ggml_type = 39;
pub const GGML_TYPE_NVFP4: ggml_type = 40;
pub const GGML_TYPE_Q1_0: ggml_type = 41;
pub const GGML_TYPE_Q2_0: ggml_type = 42;
pub const GGML_TYPE_COUNT: ggml_type = 43;
pub type ggml_type = ::std::os::raw::c_uint;
pub const GGML_LOG_LEVEL_NONE: ggml_log_level = 0;
pub const GGML_LOG_LEVEL_DEBUG: ggml_log_level = 1;
pub const GGML_LOG_LEVEL_INFO: ggml_log_level = 2;
pub const GGML_LOG_LEVEL_WARN: ggml_log_level = 3;
pub const GGML_LOG_LEVEL_ERROR: ggml_log_level = 4;
pub const GGML_LOG_LEVEL_CONT: ggml_log_level = 5;
pub type ggml_log_level = ::std::os::raw::c_uint;
#[repr(C)]
#[repr(align(8))]
pub struct ggml_tensor {
    pub _bindgen_opaque_blob: [u64; 42usize],
}
pub type ggml_abort_callback =
    ::std::option::Option<unsafe extern "C" fn(data: *mut ::std::os::raw::c_void) -> bool>;
pub type ggml_log_callback = ::std::option::Option<
    unsafe extern "C" fn(
        level: ggml_log_level,
        text: *const ::std::os::raw::c_char,
        user_data: *mut ::std::os::raw::c_void,
    ),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_buffer_type {
    _unused: [u8; 0],
}
pub type ggml_backend_buffer_type_t = *mut ggml_backend_buffer_type;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_device {
    _unused: [u8; 0],
}
pub type ggml_backend_dev_t = *mut ggml_backend_device;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_reg {
    _unused: [u8; 0],
}
pub type ggml_backend_reg_t = *mut ggml_backend_reg;
pub const GGML_BACKEND_DEVICE_TYPE_CPU: ggml_backend_dev_type = 0;
pub const GGML_BACKEND_DEVICE_TYPE_GPU: ggml_backend_dev_type = 1;
pub const GGML_BACKEND_DEVICE_TYPE_IGPU: ggml_backend_dev_type = 2;
pub const GGML_BACKEND_DEVICE_TYPE_ACCEL: ggml_backend_dev_type = 3;
pub const GGML_BACKEND_DEVICE_TYPE_META: ggml_backend_dev_type = 4;
pub type ggml_backend_dev_type = ::std::os::raw::c_uint;
pub type ggml_backend_sched_eval_callback = ::std::option::Option<
    unsafe extern "C" fn(
        t: *mut ggml_tensor,
        ask: bool,
        user_data: *mut ::std::os::raw::c_void,
    ) -> bool,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_vocab {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_model {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_context {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_memory_i {
    _unused: [u8; 0],
}
pub type llama_memory_t = *mut llama_memory_i;
pub type llama_pos = i32;
pub type llama_token = i32;
pub type llama_seq_id = i32;
pub const LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED: llama_rope_scaling_type = -1;
pub const LLAMA_ROPE_SCALING_TYPE_NONE: llama_rope_scaling_type = 0;
pub const LLAMA_ROPE_SCALING_TYPE_LINEAR: llama_rope_scaling_type = 1;
pub const LLAMA_ROPE_SCALING_TYPE_YARN: llama_rope_scaling_type = 2;
pub const LLAMA_ROPE_SCALING_TYPE_LONGROPE: llama_rope_scaling_type = 3;
pub const LLAMA_ROPE_SCALING_TYPE_MAX_VALUE: llama_rope_scaling_type = 3;
pub type llama_rope_scaling_type = ::std::os::raw::c_int;
pub const LLAMA_POOLING_TYPE_UNSPECIFIED: llama_pooling_type = -1;
pub const LLAMA_POOLING_TYPE_NONE: llama_pooling_type = 0;
pub const LLAMA_POOLING_TYPE_MEAN: llama_pooling_type = 1;
pub const LLAMA_POOLING_TYPE_CLS: llama_pooling_type = 2;
pub const LLAMA_POOLING_TYPE_LAST: llama_pooling_type = 3;
pub const LLAMA_POOLING_TYPE_RANK: llama_pooling_type = 4;
pub type llama_pooling_type = ::std::os::raw::c_int;
pub const LLAMA_ATTENTION_TYPE_UNSPECIFIED: llama_attention_type = -1;
pub const LLAMA_ATTENTION_TYPE_CAUSAL: llama_attention_type = 0;
pub const LLAMA_ATTENTION_TYPE_NON_CAUSAL: llama_attention_type = 1;
pub type llama_attention_type = ::std::os::raw::c_int;
pub const LLAMA_FLASH_ATTN_TYPE_AUTO: llama_flash_attn_type = -1;
pub const LLAMA_FLASH_ATTN_TYPE_DISABLED: llama_flash_attn_type = 0;
pub const LLAMA_FLASH_ATTN_TYPE_ENABLED: llama_flash_attn_type = 1;
pub type llama_flash_attn_type = ::std::os::raw::c_int;
pub const LLAMA_SPLIT_MODE_NONE: llama_split_mode = 0;
pub const LLAMA_SPLIT_MODE_LAYER: llama_split_mode = 1;
pub const LLAMA_SPLIT_MODE_ROW: llama_split_mode = 2;
pub const LLAMA_SPLIT_MODE_TENSOR: llama_split_mode = 3;
pub type llama_split_mode = ::std::os::raw::c_uint;
pub const LLAMA_LOAD_MODE_AUTO: llama_load_mode = -1;
pub const LLAMA_LOAD_MODE_NONE: llama_load_mode = 0;
pub const LLAMA_LOAD_MODE_MMAP: llama_load_mode = 1;
pub const LLAMA_LOAD_MODE_MLOCK: llama_load_mode = 2;
pub const LLAMA_LOAD_MODE_MMAP_MLOCK: llama_load_mode = 3;
pub const LLAMA_LOAD_MODE_DIRECT_IO: llama_load_mode = 4;
pub type llama_load_mode = ::std::os::raw::c_int;
pub const LLAMA_LAZY_MODE_OFF: llama_lazy_mode = 0;
pub const LLAMA_LAZY_MODE_AUTO: llama_lazy_mode = 1;
pub const LLAMA_LAZY_MODE_ON: llama_lazy_mode = 2;
pub type llama_lazy_mode = ::std::os::raw::c_uint;
pub const LLAMA_CONTEXT_TYPE_DEFAULT: llama_context_type = 0;
pub const LLAMA_CONTEXT_TYPE_MTP: llama_context_type = 1;
pub type llama_context_type = ::std::os::raw::c_uint;
pub type llama_progress_callback = ::std::option::Option<
    unsafe extern "C" fn(progress: f32, user_data: *mut ::std::os::raw::c_void) -> bool,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_batch {
    pub n_tokens: i32,
    pub token: *mut llama_token,
    pub embd: *mut f32,
    pub pos: *mut llama_pos,
    pub n_seq_id: *mut i32,
    pub seq_id: *mut *mut llama_seq_id,
    pub logits: *mut i8,
}
#[repr(C)]
#[repr(align(8))]
pub struct llama_model_kv_override {
    pub _bindgen_opaque_blob: [u64; 33usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union llama_model_kv_override__bindgen_ty_1 {
    pub val_i64: i64,
    pub val_f64: f64,
    pub val_bool: bool,
    pub val_str: [::std::os::raw::c_char; 128usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_model_tensor_buft_override {
    pub pattern: *const ::std::os::raw::c_char,
    pub buft: ggml_backend_buffer_type_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_model_params {
    pub devices: *mut ggml_backend_dev_t,
    pub tensor_buft_overrides: *const llama_model_tensor_buft_override,
    pub n_gpu_layers: i32,
    pub split_mode: llama_split_mode,
    pub load_mode: llama_load_mode,
    pub lazy_mode: llama_lazy_mode,
    pub main_gpu: i32,
    pub tensor_split: *const f32,
    pub progress_callback: llama_progress_callback,
    pub progress_callback_user_data: *mut ::std::os::raw::c_void,
    pub kv_overrides: *const llama_model_kv_override,
    pub vocab_only: bool,
    pub check_tensors: bool,
    pub use_extra_bufts: bool,
    pub no_host: bool,
    pub no_alloc: bool,
    pub load_mtp: bool,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_sampler_seq_config {
    pub seq_id: llama_seq_id,
    pub sampler: *mut llama_sampler,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct llama_context_params {
    pub n_ctx: u32,
    pub n_batch: u32,
    pub n_ubatch: u32,
    pub n_seq_max: u32,
    pub n_rs_seq: u32,
    pub n_outputs_max: u32,
    pub n_outputs_max_per_seq: u32,
    pub n_threads: i32,
    pub n_threads_batch: i32,
    pub ctx_type: llama_context_type,
    pub rope_scaling_type: llama_rope_scaling_type,
    pub pooling_type: llama_pooling_type,
    pub attention_type: llama_attention_type,
    pub flash_attn_type: llama_flash_attn_type,
    pub rope_freq_base: f32,
    pub rope_freq_scale: f32,
    pub yarn_ext_factor: f32,
    pub yarn_attn_factor: f32,
    pub yarn_beta_fast: f32,
    pub yarn_beta_slow: f32,
    pub yarn_orig_ctx: u32,
    pub defrag_thold: f32,
    pub cb_eval: ggml_backend_sched_eval_callback,
    pub cb_eval_user_data: *mut ::std::os::raw::c_void,
    pub type_k: ggml_type,
    pub type_v: ggml_type,
    pub abort_callback: ggml_abort_callback,
    pub abort_callback_data: *mut ::std::os::raw::c_void,
    pub embeddings: bool,
    pub offload_kqv: bool,
    pub no_perf: bool,
    pub op_offload: bool,
    pub swa_full: bool,
    pub kv_unified: bool,
    pub samplers: *mut llama_sampler_seq_config,
    pub n_samplers: usize,
    pub ctx_other: *mut llama_context,
}
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct llama_sampler {
    pub _bindgen_opaque_blob: [u64; 2usize],
}
pub struct Functions {
    __library: ::libloading::Library,
    pub ggml_backend_dev_name:
        unsafe extern "C" fn(device: ggml_backend_dev_t) -> *const ::std::os::raw::c_char,
    pub ggml_backend_dev_description:
        unsafe extern "C" fn(device: ggml_backend_dev_t) -> *const ::std::os::raw::c_char,
    pub ggml_backend_dev_memory:
        unsafe extern "C" fn(device: ggml_backend_dev_t, free: *mut usize, total: *mut usize),
    pub ggml_backend_dev_type:
        unsafe extern "C" fn(device: ggml_backend_dev_t) -> ggml_backend_dev_type,
    pub ggml_backend_dev_count: unsafe extern "C" fn() -> usize,
    pub ggml_backend_dev_get: unsafe extern "C" fn(index: usize) -> ggml_backend_dev_t,
    pub ggml_backend_dev_by_type:
        unsafe extern "C" fn(type_: ggml_backend_dev_type) -> ggml_backend_dev_t,
    pub ggml_backend_load:
        unsafe extern "C" fn(path: *const ::std::os::raw::c_char) -> ggml_backend_reg_t,
    pub ggml_backend_load_all_from_path:
        unsafe extern "C" fn(dir_path: *const ::std::os::raw::c_char),
    pub llama_version: unsafe extern "C" fn() -> *const ::std::os::raw::c_char,
    pub llama_model_default_params: unsafe extern "C" fn() -> llama_model_params,
    pub llama_context_default_params: unsafe extern "C" fn() -> llama_context_params,
    pub llama_backend_init: unsafe extern "C" fn(),
    pub llama_model_load_from_file: unsafe extern "C" fn(
        path_model: *const ::std::os::raw::c_char,
        params: llama_model_params,
    ) -> *mut llama_model,
    pub llama_model_free: unsafe extern "C" fn(model: *mut llama_model),
    pub llama_init_from_model: unsafe extern "C" fn(
        model: *mut llama_model,
        params: llama_context_params,
    ) -> *mut llama_context,
    pub llama_free: unsafe extern "C" fn(ctx: *mut llama_context),
    pub llama_get_memory: unsafe extern "C" fn(ctx: *const llama_context) -> llama_memory_t,
    pub llama_model_get_vocab:
        unsafe extern "C" fn(model: *const llama_model) -> *const llama_vocab,
    pub llama_model_n_ctx_train: unsafe extern "C" fn(model: *const llama_model) -> i32,
    pub llama_model_n_embd: unsafe extern "C" fn(model: *const llama_model) -> i32,
    pub llama_model_n_layer: unsafe extern "C" fn(model: *const llama_model) -> i32,
    pub llama_model_n_head: unsafe extern "C" fn(model: *const llama_model) -> i32,
    pub llama_model_n_head_kv: unsafe extern "C" fn(model: *const llama_model) -> i32,
    pub llama_vocab_n_tokens: unsafe extern "C" fn(vocab: *const llama_vocab) -> i32,
    pub llama_model_meta_val_str: unsafe extern "C" fn(
        model: *const llama_model,
        key: *const ::std::os::raw::c_char,
        buf: *mut ::std::os::raw::c_char,
        buf_size: usize,
    ) -> i32,
    pub llama_model_size: unsafe extern "C" fn(model: *const llama_model) -> u64,
    pub llama_model_chat_template: unsafe extern "C" fn(
        model: *const llama_model,
        name: *const ::std::os::raw::c_char,
    ) -> *const ::std::os::raw::c_char,
    pub llama_memory_seq_rm: unsafe extern "C" fn(
        mem: llama_memory_t,
        seq_id: llama_seq_id,
        p0: llama_pos,
        p1: llama_pos,
    ) -> bool,
    pub llama_decode: unsafe extern "C" fn(ctx: *mut llama_context, batch: llama_batch) -> i32,
    pub llama_set_n_threads:
        unsafe extern "C" fn(ctx: *mut llama_context, n_threads: i32, n_threads_batch: i32),
    pub llama_get_logits_ith: unsafe extern "C" fn(ctx: *mut llama_context, i: i32) -> *mut f32,
    pub llama_vocab_is_eog:
        unsafe extern "C" fn(vocab: *const llama_vocab, token: llama_token) -> bool,
    pub llama_vocab_bos: unsafe extern "C" fn(vocab: *const llama_vocab) -> llama_token,
    pub llama_vocab_eos: unsafe extern "C" fn(vocab: *const llama_vocab) -> llama_token,
    pub llama_vocab_eot: unsafe extern "C" fn(vocab: *const llama_vocab) -> llama_token,
    pub llama_vocab_get_add_bos: unsafe extern "C" fn(vocab: *const llama_vocab) -> bool,
    pub llama_vocab_fim_pre: unsafe extern "C" fn(vocab: *const llama_vocab) -> llama_token,
    pub llama_vocab_fim_suf: unsafe extern "C" fn(vocab: *const llama_vocab) -> llama_token,
    pub llama_vocab_fim_mid: unsafe extern "C" fn(vocab: *const llama_vocab) -> llama_token,
    pub llama_tokenize: unsafe extern "C" fn(
        vocab: *const llama_vocab,
        text: *const ::std::os::raw::c_char,
        text_len: i32,
        tokens: *mut llama_token,
        n_tokens_max: i32,
        add_special: bool,
        parse_special: bool,
    ) -> i32,
    pub llama_token_to_piece: unsafe extern "C" fn(
        vocab: *const llama_vocab,
        token: llama_token,
        buf: *mut ::std::os::raw::c_char,
        length: i32,
        lstrip: i32,
        special: bool,
    ) -> i32,
    pub llama_log_set: unsafe extern "C" fn(
        log_callback: ggml_log_callback,
        user_data: *mut ::std::os::raw::c_void,
    ),
}
impl Functions {
    pub unsafe fn from_library<L>(library: L) -> Result<Self, ::libloading::Error>
    where
        L: Into<::libloading::Library>,
    {
        let __library = library.into();
        let ggml_backend_dev_name =
            unsafe { __library.get(b"ggml_backend_dev_name\0") }.map(|sym| *sym)?;
        let ggml_backend_dev_description =
            unsafe { __library.get(b"ggml_backend_dev_description\0") }.map(|sym| *sym)?;
        let ggml_backend_dev_memory =
            unsafe { __library.get(b"ggml_backend_dev_memory\0") }.map(|sym| *sym)?;
        let ggml_backend_dev_type =
            unsafe { __library.get(b"ggml_backend_dev_type\0") }.map(|sym| *sym)?;
        let ggml_backend_dev_count =
            unsafe { __library.get(b"ggml_backend_dev_count\0") }.map(|sym| *sym)?;
        let ggml_backend_dev_get =
            unsafe { __library.get(b"ggml_backend_dev_get\0") }.map(|sym| *sym)?;
        let ggml_backend_dev_by_type =
            unsafe { __library.get(b"ggml_backend_dev_by_type\0") }.map(|sym| *sym)?;
        let ggml_backend_load = unsafe { __library.get(b"ggml_backend_load\0") }.map(|sym| *sym)?;
        let ggml_backend_load_all_from_path =
            unsafe { __library.get(b"ggml_backend_load_all_from_path\0") }.map(|sym| *sym)?;
        let llama_version = unsafe { __library.get(b"llama_version\0") }.map(|sym| *sym)?;
        let llama_model_default_params =
            unsafe { __library.get(b"llama_model_default_params\0") }.map(|sym| *sym)?;
        let llama_context_default_params =
            unsafe { __library.get(b"llama_context_default_params\0") }.map(|sym| *sym)?;
        let llama_backend_init =
            unsafe { __library.get(b"llama_backend_init\0") }.map(|sym| *sym)?;
        let llama_model_load_from_file =
            unsafe { __library.get(b"llama_model_load_from_file\0") }.map(|sym| *sym)?;
        let llama_model_free = unsafe { __library.get(b"llama_model_free\0") }.map(|sym| *sym)?;
        let llama_init_from_model =
            unsafe { __library.get(b"llama_init_from_model\0") }.map(|sym| *sym)?;
        let llama_free = unsafe { __library.get(b"llama_free\0") }.map(|sym| *sym)?;
        let llama_get_memory = unsafe { __library.get(b"llama_get_memory\0") }.map(|sym| *sym)?;
        let llama_model_get_vocab =
            unsafe { __library.get(b"llama_model_get_vocab\0") }.map(|sym| *sym)?;
        let llama_model_n_ctx_train =
            unsafe { __library.get(b"llama_model_n_ctx_train\0") }.map(|sym| *sym)?;
        let llama_model_n_embd =
            unsafe { __library.get(b"llama_model_n_embd\0") }.map(|sym| *sym)?;
        let llama_model_n_layer =
            unsafe { __library.get(b"llama_model_n_layer\0") }.map(|sym| *sym)?;
        let llama_model_n_head =
            unsafe { __library.get(b"llama_model_n_head\0") }.map(|sym| *sym)?;
        let llama_model_n_head_kv =
            unsafe { __library.get(b"llama_model_n_head_kv\0") }.map(|sym| *sym)?;
        let llama_vocab_n_tokens =
            unsafe { __library.get(b"llama_vocab_n_tokens\0") }.map(|sym| *sym)?;
        let llama_model_meta_val_str =
            unsafe { __library.get(b"llama_model_meta_val_str\0") }.map(|sym| *sym)?;
        let llama_model_size = unsafe { __library.get(b"llama_model_size\0") }.map(|sym| *sym)?;
        let llama_model_chat_template =
            unsafe { __library.get(b"llama_model_chat_template\0") }.map(|sym| *sym)?;
        let llama_memory_seq_rm =
            unsafe { __library.get(b"llama_memory_seq_rm\0") }.map(|sym| *sym)?;
        let llama_decode = unsafe { __library.get(b"llama_decode\0") }.map(|sym| *sym)?;
        let llama_set_n_threads =
            unsafe { __library.get(b"llama_set_n_threads\0") }.map(|sym| *sym)?;
        let llama_get_logits_ith =
            unsafe { __library.get(b"llama_get_logits_ith\0") }.map(|sym| *sym)?;
        let llama_vocab_is_eog =
            unsafe { __library.get(b"llama_vocab_is_eog\0") }.map(|sym| *sym)?;
        let llama_vocab_bos = unsafe { __library.get(b"llama_vocab_bos\0") }.map(|sym| *sym)?;
        let llama_vocab_eos = unsafe { __library.get(b"llama_vocab_eos\0") }.map(|sym| *sym)?;
        let llama_vocab_eot = unsafe { __library.get(b"llama_vocab_eot\0") }.map(|sym| *sym)?;
        let llama_vocab_get_add_bos =
            unsafe { __library.get(b"llama_vocab_get_add_bos\0") }.map(|sym| *sym)?;
        let llama_vocab_fim_pre =
            unsafe { __library.get(b"llama_vocab_fim_pre\0") }.map(|sym| *sym)?;
        let llama_vocab_fim_suf =
            unsafe { __library.get(b"llama_vocab_fim_suf\0") }.map(|sym| *sym)?;
        let llama_vocab_fim_mid =
            unsafe { __library.get(b"llama_vocab_fim_mid\0") }.map(|sym| *sym)?;
        let llama_tokenize = unsafe { __library.get(b"llama_tokenize\0") }.map(|sym| *sym)?;
        let llama_token_to_piece =
            unsafe { __library.get(b"llama_token_to_piece\0") }.map(|sym| *sym)?;
        let llama_log_set = unsafe { __library.get(b"llama_log_set\0") }.map(|sym| *sym)?;
        Ok(Functions {
            __library,
            ggml_backend_dev_name,
            ggml_backend_dev_description,
            ggml_backend_dev_memory,
            ggml_backend_dev_type,
            ggml_backend_dev_count,
            ggml_backend_dev_get,
            ggml_backend_dev_by_type,
            ggml_backend_load,
            ggml_backend_load_all_from_path,
            llama_version,
            llama_model_default_params,
            llama_context_default_params,
            llama_backend_init,
            llama_model_load_from_file,
            llama_model_free,
            llama_init_from_model,
            llama_free,
            llama_get_memory,
            llama_model_get_vocab,
            llama_model_n_ctx_train,
            llama_model_n_embd,
            llama_model_n_layer,
            llama_model_n_head,
            llama_model_n_head_kv,
            llama_vocab_n_tokens,
            llama_model_meta_val_str,
            llama_model_size,
            llama_model_chat_template,
            llama_memory_seq_rm,
            llama_decode,
            llama_set_n_threads,
            llama_get_logits_ith,
            llama_vocab_is_eog,
            llama_vocab_bos,
            llama_vocab_eos,
            llama_vocab_eot,
            llama_vocab_get_add_bos,
            llama_vocab_fim_pre,
            llama_vocab_fim_suf,
            llama_vocab_fim_mid,
            llama_tokenize,
            llama_token_to_piece,
            llama_log_set,
        })
    }
    pub unsafe fn ggml_backend_dev_name(
        &self,
        device: ggml_backend_dev_t,
    ) -> *const ::std::os::raw::c_char {
        unsafe { (self.ggml_backend_dev_name)(device) }
    }
    pub unsafe fn ggml_backend_dev_description(
        &self,
        device: ggml_backend_dev_t,
    ) -> *const ::std::os::raw::c_char {
        unsafe { (self.ggml_backend_dev_description)(device) }
    }
    pub unsafe fn ggml_backend_dev_memory(
        &self,
        device: ggml_backend_dev_t,
        free: *mut usize,
        total: *mut usize,
    ) {
        unsafe { (self.ggml_backend_dev_memory)(device, free, total) }
    }
    pub unsafe fn ggml_backend_dev_type(
        &self,
        device: ggml_backend_dev_t,
    ) -> ggml_backend_dev_type {
        unsafe { (self.ggml_backend_dev_type)(device) }
    }
    pub unsafe fn ggml_backend_dev_count(&self) -> usize {
        unsafe { (self.ggml_backend_dev_count)() }
    }
    pub unsafe fn ggml_backend_dev_get(&self, index: usize) -> ggml_backend_dev_t {
        unsafe { (self.ggml_backend_dev_get)(index) }
    }
    pub unsafe fn ggml_backend_dev_by_type(
        &self,
        type_: ggml_backend_dev_type,
    ) -> ggml_backend_dev_t {
        unsafe { (self.ggml_backend_dev_by_type)(type_) }
    }
    pub unsafe fn ggml_backend_load(
        &self,
        path: *const ::std::os::raw::c_char,
    ) -> ggml_backend_reg_t {
        unsafe { (self.ggml_backend_load)(path) }
    }
    pub unsafe fn ggml_backend_load_all_from_path(&self, dir_path: *const ::std::os::raw::c_char) {
        unsafe { (self.ggml_backend_load_all_from_path)(dir_path) }
    }
    pub unsafe fn llama_version(&self) -> *const ::std::os::raw::c_char {
        unsafe { (self.llama_version)() }
    }
    pub unsafe fn llama_model_default_params(&self) -> llama_model_params {
        unsafe { (self.llama_model_default_params)() }
    }
    pub unsafe fn llama_context_default_params(&self) -> llama_context_params {
        unsafe { (self.llama_context_default_params)() }
    }
    pub unsafe fn llama_backend_init(&self) {
        unsafe { (self.llama_backend_init)() }
    }
    pub unsafe fn llama_model_load_from_file(
        &self,
        path_model: *const ::std::os::raw::c_char,
        params: llama_model_params,
    ) -> *mut llama_model {
        unsafe { (self.llama_model_load_from_file)(path_model, params) }
    }
    pub unsafe fn llama_model_free(&self, model: *mut llama_model) {
        unsafe { (self.llama_model_free)(model) }
    }
    pub unsafe fn llama_init_from_model(
        &self,
        model: *mut llama_model,
        params: llama_context_params,
    ) -> *mut llama_context {
        unsafe { (self.llama_init_from_model)(model, params) }
    }
    pub unsafe fn llama_free(&self, ctx: *mut llama_context) {
        unsafe { (self.llama_free)(ctx) }
    }
    pub unsafe fn llama_get_memory(&self, ctx: *const llama_context) -> llama_memory_t {
        unsafe { (self.llama_get_memory)(ctx) }
    }
    pub unsafe fn llama_model_get_vocab(&self, model: *const llama_model) -> *const llama_vocab {
        unsafe { (self.llama_model_get_vocab)(model) }
    }
    pub unsafe fn llama_model_n_ctx_train(&self, model: *const llama_model) -> i32 {
        unsafe { (self.llama_model_n_ctx_train)(model) }
    }
    pub unsafe fn llama_model_n_embd(&self, model: *const llama_model) -> i32 {
        unsafe { (self.llama_model_n_embd)(model) }
    }
    pub unsafe fn llama_model_n_layer(&self, model: *const llama_model) -> i32 {
        unsafe { (self.llama_model_n_layer)(model) }
    }
    pub unsafe fn llama_model_n_head(&self, model: *const llama_model) -> i32 {
        unsafe { (self.llama_model_n_head)(model) }
    }
    pub unsafe fn llama_model_n_head_kv(&self, model: *const llama_model) -> i32 {
        unsafe { (self.llama_model_n_head_kv)(model) }
    }
    pub unsafe fn llama_vocab_n_tokens(&self, vocab: *const llama_vocab) -> i32 {
        unsafe { (self.llama_vocab_n_tokens)(vocab) }
    }
    pub unsafe fn llama_model_meta_val_str(
        &self,
        model: *const llama_model,
        key: *const ::std::os::raw::c_char,
        buf: *mut ::std::os::raw::c_char,
        buf_size: usize,
    ) -> i32 {
        unsafe { (self.llama_model_meta_val_str)(model, key, buf, buf_size) }
    }
    pub unsafe fn llama_model_size(&self, model: *const llama_model) -> u64 {
        unsafe { (self.llama_model_size)(model) }
    }
    pub unsafe fn llama_model_chat_template(
        &self,
        model: *const llama_model,
        name: *const ::std::os::raw::c_char,
    ) -> *const ::std::os::raw::c_char {
        unsafe { (self.llama_model_chat_template)(model, name) }
    }
    pub unsafe fn llama_memory_seq_rm(
        &self,
        mem: llama_memory_t,
        seq_id: llama_seq_id,
        p0: llama_pos,
        p1: llama_pos,
    ) -> bool {
        unsafe { (self.llama_memory_seq_rm)(mem, seq_id, p0, p1) }
    }
    pub unsafe fn llama_decode(&self, ctx: *mut llama_context, batch: llama_batch) -> i32 {
        unsafe { (self.llama_decode)(ctx, batch) }
    }
    pub unsafe fn llama_set_n_threads(
        &self,
        ctx: *mut llama_context,
        n_threads: i32,
        n_threads_batch: i32,
    ) {
        unsafe { (self.llama_set_n_threads)(ctx, n_threads, n_threads_batch) }
    }
    pub unsafe fn llama_get_logits_ith(&self, ctx: *mut llama_context, i: i32) -> *mut f32 {
        unsafe { (self.llama_get_logits_ith)(ctx, i) }
    }
    pub unsafe fn llama_vocab_is_eog(&self, vocab: *const llama_vocab, token: llama_token) -> bool {
        unsafe { (self.llama_vocab_is_eog)(vocab, token) }
    }
    pub unsafe fn llama_vocab_bos(&self, vocab: *const llama_vocab) -> llama_token {
        unsafe { (self.llama_vocab_bos)(vocab) }
    }
    pub unsafe fn llama_vocab_eos(&self, vocab: *const llama_vocab) -> llama_token {
        unsafe { (self.llama_vocab_eos)(vocab) }
    }
    pub unsafe fn llama_vocab_eot(&self, vocab: *const llama_vocab) -> llama_token {
        unsafe { (self.llama_vocab_eot)(vocab) }
    }
    pub unsafe fn llama_vocab_get_add_bos(&self, vocab: *const llama_vocab) -> bool {
        unsafe { (self.llama_vocab_get_add_bos)(vocab) }
    }
    pub unsafe fn llama_vocab_fim_pre(&self, vocab: *const llama_vocab) -> llama_token {
        unsafe { (self.llama_vocab_fim_pre)(vocab) }
    }
    pub unsafe fn llama_vocab_fim_suf(&self, vocab: *const llama_vocab) -> llama_token {
        unsafe { (self.llama_vocab_fim_suf)(vocab) }
    }
    pub unsafe fn llama_vocab_fim_mid(&self, vocab: *const llama_vocab) -> llama_token {
        unsafe { (self.llama_vocab_fim_mid)(vocab) }
    }
    pub unsafe fn llama_tokenize(
        &self,
        vocab: *const llama_vocab,
        text: *const ::std::os::raw::c_char,
        text_len: i32,
        tokens: *mut llama_token,
        n_tokens_max: i32,
        add_special: bool,
        parse_special: bool,
    ) -> i32 {
        unsafe {
            (self.llama_tokenize)(
                vocab,
                text,
                text_len,
                tokens,
                n_tokens_max,
                add_special,
                parse_special,
            )
        }
    }
    pub unsafe fn llama_token_to_piece(
        &self,
        vocab: *const llama_vocab,
        token: llama_token,
        buf: *mut ::std::os::raw::c_char,
        length: i32,
        lstrip: i32,
        special: bool,
    ) -> i32 {
        unsafe { (self.llama_token_to_piece)(vocab, token, buf, length, lstrip, special) }
    }
    pub unsafe fn llama_log_set(
        &self,
        log_callback: ggml_log_callback,
        user_data: *mut ::std::os::raw::c_void,
    ) {
        unsafe { (self.llama_log_set)(log_callback, user_data) }
    }
}
