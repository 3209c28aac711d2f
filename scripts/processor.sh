#!/usr/bin/env bash
# Asks for the instructions that this machine has when llama.cpp is built. To be sourced.
#
# .cargo/config.toml has the safe choice. What is set here makes prompts several times faster and
# binds the binary to processors like this one; PORTABLE=1 keeps the safe choice.

has_instructions() {
  local flag
  for flag in "$@"; do
    grep -m 1 '^flags' /proc/cpuinfo | grep -qw "$flag" || return 1
  done
}

# choose VARIABLE FLAG...: ON if the processor has all of them.
choose() {
  local variable=$1
  shift
  if has_instructions "$@"; then export "$variable=ON"; else export "$variable=OFF"; fi
}

use_processor() {
  [ "$(uname -m)" = x86_64 ] && [ -r /proc/cpuinfo ] || return 0
  if [ -n "${PORTABLE:-}" ]; then
    return 0
  fi
  choose GGML_SSE42 sse4_2
  choose GGML_AVX avx
  choose GGML_AVX2 avx2
  choose GGML_FMA fma
  choose GGML_F16C f16c
  choose GGML_BMI2 bmi2
  choose GGML_AVX_VNNI avx_vnni
  choose GGML_AVX512 avx512f avx512cd avx512vl avx512dq avx512bw
  choose GGML_AVX512_VBMI avx512f avx512vbmi
  choose GGML_AVX512_VNNI avx512f avx512_vnni
  choose GGML_AVX512_BF16 avx512f avx512_bf16
  choose GGML_AMX_TILE avx512f avx512_vnni amx_tile amx_int8
  choose GGML_AMX_INT8 avx512f avx512_vnni amx_tile amx_int8
}

# llama.cpp's build keeps what it was first asked for, so that another choice starts it afresh.
start_afresh_for_processor() {
  local stamp wanted
  stamp="$(target_dir)/release/processor.txt"
  wanted=$(env | grep '^GGML_' | sort || true)
  if [ -e "$stamp" ] && [ "$(cat "$stamp")" != "$wanted" ]; then
    cargo clean --quiet --release --package llama-cpp-sys-2 >&2
  fi
  mkdir -p "$(dirname "$stamp")"
  printf '%s\n' "$wanted" >"$stamp"
}
