//! Converts the catalogue's enums to those of the API.

use ::wire::models as wire;
use domain::catalogue as ours;

pub(super) fn privacy(privacy: ours::Privacy) -> wire::Privacy {
    match privacy {
        ours::Privacy::Private => wire::Privacy::Private,
        ours::Privacy::Anonymized => wire::Privacy::Anonymized,
    }
}

pub(super) fn quantization(quantization: ours::Quantization) -> wire::Quantization {
    match quantization {
        ours::Quantization::Fp4 => wire::Quantization::Fp4,
        ours::Quantization::Fp8 => wire::Quantization::Fp8,
        ours::Quantization::Fp16 => wire::Quantization::Fp16,
        ours::Quantization::Bf16 => wire::Quantization::Bf16,
        ours::Quantization::Int8 => wire::Quantization::Int8,
        ours::Quantization::Int4 => wire::Quantization::Int4,
        ours::Quantization::NotAvailable => wire::Quantization::NotAvailable,
    }
}

pub(super) fn reasoning_effort(effort: ours::ReasoningEffort) -> wire::ReasoningEffort {
    match effort {
        ours::ReasoningEffort::None => wire::ReasoningEffort::None,
        ours::ReasoningEffort::Minimal => wire::ReasoningEffort::Minimal,
        ours::ReasoningEffort::Low => wire::ReasoningEffort::Low,
        ours::ReasoningEffort::Medium => wire::ReasoningEffort::Medium,
        ours::ReasoningEffort::High => wire::ReasoningEffort::High,
        ours::ReasoningEffort::Xhigh => wire::ReasoningEffort::Xhigh,
        ours::ReasoningEffort::Max => wire::ReasoningEffort::Max,
    }
}

pub(super) fn quality(quality: ours::Quality) -> wire::Quality {
    match quality {
        ours::Quality::Low => wire::Quality::Low,
        ours::Quality::Medium => wire::Quality::Medium,
        ours::Quality::High => wire::Quality::High,
    }
}

pub(super) fn audio_format(format: ours::AudioFormat) -> wire::AudioFormat {
    match format {
        ours::AudioFormat::Mp3 => wire::AudioFormat::Mp3,
        ours::AudioFormat::Opus => wire::AudioFormat::Opus,
        ours::AudioFormat::Aac => wire::AudioFormat::Aac,
        ours::AudioFormat::Flac => wire::AudioFormat::Flac,
        ours::AudioFormat::Wav => wire::AudioFormat::Wav,
        ours::AudioFormat::Pcm => wire::AudioFormat::Pcm,
        ours::AudioFormat::M4a => wire::AudioFormat::M4a,
        ours::AudioFormat::Ogg => wire::AudioFormat::Ogg,
        ours::AudioFormat::Webm => wire::AudioFormat::Webm,
    }
}

pub(super) fn cloning_mode(mode: ours::CloningMode) -> wire::CloningMode {
    match mode {
        ours::CloningMode::ZeroShot => wire::CloningMode::ZeroShot,
        ours::CloningMode::Persistent => wire::CloningMode::Persistent,
    }
}

pub(super) fn video_kind(kind: ours::VideoKind) -> wire::VideoKind {
    match kind {
        ours::VideoKind::ImageToVideo => wire::VideoKind::ImageToVideo,
        ours::VideoKind::TextToVideo => wire::VideoKind::TextToVideo,
        ours::VideoKind::Video => wire::VideoKind::Video,
    }
}
