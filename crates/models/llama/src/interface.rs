//! Checks that the library's structures have the memory layout of the bindings.
//!
//! A library of another version may have more or other fields. Its default parameters show it: each
//! field must be at its offset in the bindings, with the default value of the bindings' version.

use std::mem::MaybeUninit;

use crate::bindings::{
    Functions, GGML_TYPE_F16, LLAMA_ATTENTION_TYPE_UNSPECIFIED, LLAMA_CONTEXT_TYPE_DEFAULT,
    LLAMA_FLASH_ATTN_TYPE_AUTO, LLAMA_LAZY_MODE_AUTO, LLAMA_LOAD_MODE_AUTO,
    LLAMA_POOLING_TYPE_UNSPECIFIED, LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED, LLAMA_SPLIT_MODE_LAYER,
    llama_context_params, llama_model_params,
};

/// Maximum extra length of a structure in a newer library.
const ROOM_BYTES: usize = 1024;

/// Space for a structure and for anything that another version may write after it. Large enough to
/// be returned through memory on every platform, as the structures themselves are.
#[repr(C)]
struct PaddedStruct<T> {
    value: MaybeUninit<T>,
    room: MaybeUninit<[u8; ROOM_BYTES]>,
}

/// The first field whose bytes differ from the expected ones, if any.
macro_rules! differing {
    ($found:expr, $expected:expr, $type:ty: $($field:ident)+) => {{
        let (found, expected): (&MaybeUninit<$type>, &$type) = (&$found, &$expected);
        let mut differing = None;
        $(
            let offset = std::mem::offset_of!($type, $field);
            let bytes = size_of_val(&expected.$field);
            let is_same = same_bytes(found, expected, offset, bytes);
            if !is_same && differing.is_none() {
                differing = Some(concat!(stringify!($type), ".", stringify!($field)));
            }
        )+
        differing
    }};
}

pub(crate) fn check_layout(functions: &Functions) -> Result<(), String> {
    let differing = differing_of_model(functions).or_else(|| differing_of_context(functions));
    match differing {
        None => Ok(()),
        Some(field) => Err(format!("its default of {field} is another, or lies elsewhere")),
    }
}

#[expect(unsafe_code, reason = "calls into the library")]
fn differing_of_model(functions: &Functions) -> Option<&'static str> {
    let function = functions.llama_model_default_params;
    // SAFETY: only the return type differs, and both are returned through the caller's memory; ours
    // has more space, so that a longer structure overwrites nothing else.
    let found: PaddedStruct<llama_model_params> = unsafe {
        let roomy: unsafe extern "C" fn() -> PaddedStruct<llama_model_params> =
            std::mem::transmute(function);
        roomy()
    };
    let expected = llama_model_params {
        devices: std::ptr::null_mut(),
        tensor_buft_overrides: std::ptr::null(),
        n_gpu_layers: -1,
        split_mode: LLAMA_SPLIT_MODE_LAYER,
        load_mode: LLAMA_LOAD_MODE_AUTO,
        lazy_mode: LLAMA_LAZY_MODE_AUTO,
        main_gpu: 0,
        tensor_split: std::ptr::null(),
        progress_callback: None,
        progress_callback_user_data: std::ptr::null_mut(),
        kv_overrides: std::ptr::null(),
        vocab_only: false,
        check_tensors: false,
        use_extra_bufts: true,
        no_host: false,
        no_alloc: false,
        load_mtp: false,
    };
    differing!(found.value, expected, llama_model_params:
        devices tensor_buft_overrides n_gpu_layers split_mode load_mode lazy_mode main_gpu
        tensor_split progress_callback progress_callback_user_data kv_overrides vocab_only
        check_tensors use_extra_bufts no_host no_alloc load_mtp)
}

#[expect(unsafe_code, reason = "calls into the library")]
fn differing_of_context(functions: &Functions) -> Option<&'static str> {
    let function = functions.llama_context_default_params;
    // SAFETY: as in `differing_of_model`.
    let found: PaddedStruct<llama_context_params> = unsafe {
        let roomy: unsafe extern "C" fn() -> PaddedStruct<llama_context_params> =
            std::mem::transmute(function);
        roomy()
    };
    let expected = expected_context();
    differing!(found.value, expected, llama_context_params:
        n_ctx n_batch n_ubatch n_seq_max n_rs_seq n_outputs_max n_outputs_max_per_seq n_threads
        n_threads_batch ctx_type rope_scaling_type pooling_type attention_type flash_attn_type
        rope_freq_base rope_freq_scale yarn_ext_factor yarn_attn_factor yarn_beta_fast
        yarn_beta_slow yarn_orig_ctx defrag_thold cb_eval cb_eval_user_data type_k type_v
        abort_callback abort_callback_data embeddings offload_kqv no_perf op_offload swa_full
        kv_unified samplers n_samplers ctx_other)
}

fn expected_context() -> llama_context_params {
    llama_context_params {
        n_ctx: 512,
        n_batch: 2048,
        n_ubatch: 512,
        n_seq_max: 1,
        n_rs_seq: 0,
        n_outputs_max: 0,
        n_outputs_max_per_seq: 1,
        n_threads: 4,
        n_threads_batch: 4,
        ctx_type: LLAMA_CONTEXT_TYPE_DEFAULT,
        rope_scaling_type: LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED,
        pooling_type: LLAMA_POOLING_TYPE_UNSPECIFIED,
        attention_type: LLAMA_ATTENTION_TYPE_UNSPECIFIED,
        flash_attn_type: LLAMA_FLASH_ATTN_TYPE_AUTO,
        rope_freq_base: 0.0,
        rope_freq_scale: 0.0,
        yarn_ext_factor: -1.0,
        yarn_attn_factor: -1.0,
        yarn_beta_fast: -1.0,
        yarn_beta_slow: -1.0,
        yarn_orig_ctx: 0,
        defrag_thold: -1.0,
        cb_eval: None,
        cb_eval_user_data: std::ptr::null_mut(),
        type_k: GGML_TYPE_F16,
        type_v: GGML_TYPE_F16,
        abort_callback: None,
        abort_callback_data: std::ptr::null_mut(),
        embeddings: false,
        offload_kqv: true,
        no_perf: true,
        op_offload: true,
        swa_full: true,
        kv_unified: false,
        samplers: std::ptr::null_mut(),
        n_samplers: 0,
        ctx_other: std::ptr::null_mut(),
    }
}

/// Compares bytes, because a field of an incompatible library may hold values that its type does
/// not allow.
#[expect(unsafe_code, reason = "looks at bytes")]
fn same_bytes<T>(found: &MaybeUninit<T>, expected: &T, offset: usize, bytes: usize) -> bool {
    debug_assert!(offset + bytes <= size_of::<T>(), "a field lies within its structure");
    // SAFETY: the bytes are those of one field, which has no padding: the library has written what
    // it returns, and ours is a complete value. A shorter structure leaves the end of ours as the
    // stack was, which is readable memory.
    unsafe {
        let found = found.as_ptr().cast::<u8>().add(offset);
        let expected = std::ptr::from_ref(expected).cast::<u8>().add(offset);
        (0..bytes).all(|index| found.add(index).read_volatile() == expected.add(index).read())
    }
}
