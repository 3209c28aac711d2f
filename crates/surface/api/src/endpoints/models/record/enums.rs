//! Converts the catalogue's enums to those of the API.

use ::wire::models as wire;
use domain::catalogue as ours;

pub(super) fn to_wire_privacy(privacy: ours::ContentPrivacy) -> wire::Privacy {
    match privacy {
        ours::ContentPrivacy::Private => wire::Privacy::Private,
        ours::ContentPrivacy::Anonymized => wire::Privacy::Anonymized,
    }
}

pub(super) fn to_wire_quantization(quantization: ours::WeightQuantization) -> wire::Quantization {
    match quantization {
        ours::WeightQuantization::Fp4 => wire::Quantization::Fp4,
        ours::WeightQuantization::Fp8 => wire::Quantization::Fp8,
        ours::WeightQuantization::Fp16 => wire::Quantization::Fp16,
        ours::WeightQuantization::Bf16 => wire::Quantization::Bf16,
        ours::WeightQuantization::Int8 => wire::Quantization::Int8,
        ours::WeightQuantization::Int4 => wire::Quantization::Int4,
        ours::WeightQuantization::NotAvailable => wire::Quantization::NotAvailable,
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

pub(super) fn to_wire_quality(quality: ours::ImageQuality) -> wire::Quality {
    match quality {
        ours::ImageQuality::Low => wire::Quality::Low,
        ours::ImageQuality::Medium => wire::Quality::Medium,
        ours::ImageQuality::High => wire::Quality::High,
    }
}

pub(super) fn audio_format(format: ours::AudioFileFormat) -> wire::AudioFormat {
    match format {
        ours::AudioFileFormat::Mp3 => wire::AudioFormat::Mp3,
        ours::AudioFileFormat::Opus => wire::AudioFormat::Opus,
        ours::AudioFileFormat::Aac => wire::AudioFormat::Aac,
        ours::AudioFileFormat::Flac => wire::AudioFormat::Flac,
        ours::AudioFileFormat::Wav => wire::AudioFormat::Wav,
        ours::AudioFileFormat::Pcm => wire::AudioFormat::Pcm,
        ours::AudioFileFormat::M4a => wire::AudioFormat::M4a,
        ours::AudioFileFormat::Ogg => wire::AudioFormat::Ogg,
        ours::AudioFileFormat::Webm => wire::AudioFormat::Webm,
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
