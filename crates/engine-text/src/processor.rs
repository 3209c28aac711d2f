//! Whether this machine has the instructions that llama.cpp was compiled for.

/// Says what is missing. Without this the first answer would end in an illegal instruction.
#[cfg(target_arch = "x86_64")]
pub(crate) fn missing_instructions() -> Vec<&'static str> {
    let mut missing = Vec::new();
    macro_rules! look {
        ($($variable:literal: $($feature:tt),+;)+) => {$(
            if option_env!($variable) == Some("ON") {
                $(if !std::arch::is_x86_feature_detected!($feature) {
                    missing.push($feature);
                })+
            }
        )+};
    }
    // The variables that .cargo/config.toml and scripts/build.sh set for llama.cpp's own build.
    look! {
        "GGML_AVX": "avx";
        "GGML_AVX2": "avx2";
        "GGML_FMA": "fma";
        "GGML_F16C": "f16c";
        "GGML_BMI2": "bmi2";
        "GGML_AVX_VNNI": "avxvnni";
        "GGML_AVX512": "avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw";
        "GGML_AVX512_VBMI": "avx512vbmi";
        "GGML_AVX512_VNNI": "avx512vnni";
        "GGML_AVX512_BF16": "avx512bf16";
    }
    missing
}

/// Other processors get the baseline of their architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn missing_instructions() -> Vec<&'static str> {
    Vec::new()
}
