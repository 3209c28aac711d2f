#!/usr/bin/env bash
# Generates the bindings of llama.cpp: scripts/bindings.sh FOLDER, where FOLDER has llama.cpp's
# sources at the version that crates/models/llama names. Needs bindgen (cargo install bindgen-cli
# --version 0.72.1 --locked) and libclang. A build needs neither, because the output is committed.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

sources=${1:?the folder of the sources of llama.cpp}
have bindgen || fail "bindgen is missing: cargo install bindgen-cli --version 0.72.1 --locked"

crate=crates/models/llama
cp "$sources/include/llama.h" "$sources/ggml/include/ggml-backend.h" "$crate/include/"
cp "$sources/LICENSE" "$crate/include/LICENSE"

# Only the functions that engine-text needs: a library that lacks one of them is refused.
functions=(
  llama_version llama_backend_init llama_log_set
  llama_model_default_params llama_model_load_from_file llama_model_free llama_model_get_vocab
  llama_model_size llama_model_n_ctx_train llama_model_n_layer llama_model_n_head
  llama_model_n_head_kv llama_model_n_embd llama_model_chat_template llama_model_meta_val_str
  llama_vocab_n_tokens llama_vocab_bos llama_vocab_eos llama_vocab_eot llama_vocab_get_add_bos
  llama_vocab_fim_pre llama_vocab_fim_suf llama_vocab_fim_mid llama_vocab_is_eog
  llama_tokenize llama_token_to_piece
  llama_context_default_params llama_init_from_model llama_free llama_get_memory
  llama_memory_seq_rm llama_decode llama_get_logits_ith
  ggml_backend_load_all_from_path ggml_backend_load ggml_backend_dev_count ggml_backend_dev_get
  ggml_backend_dev_by_type ggml_backend_dev_name ggml_backend_dev_description
  ggml_backend_dev_memory ggml_backend_dev_type
)
allowed=()
for name in "${functions[@]}"; do allowed+=(--allowlist-function "$name"); done

bindgen "$sources/include/llama.h" \
  --dynamic-loading Functions --dynamic-link-require-all \
  --no-prepend-enum-name --no-doc-comments --no-derive-default --no-layout-tests \
  --disable-header-comment --rust-target 1.85 --rust-edition 2024 --wrap-unsafe-ops \
  "${allowed[@]}" \
  --opaque-type ggml_tensor --opaque-type llama_sampler --opaque-type llama_model_kv_override \
  --raw-line '//! The C interface of llama.cpp as far as it is used, made by scripts/bindings.sh.' \
  --output "$crate/src/bindings.rs" \
  -- -I "$sources/include" -I "$sources/ggml/include"
rustfmt --edition 2024 "$crate/src/bindings.rs"
# bindgen's code for opening the library is for an older libloading; ours is in library.rs.
perl -0pi -e 's/    pub unsafe fn new<P>.*?\n    \}\n//s' "$crate/src/bindings.rs"
