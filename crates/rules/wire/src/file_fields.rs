//! Fields of forms that may hold a request's file.
//!
//! A form sends them as files or as text, so the schema of the fields cannot require them.

use crate::audio::VideoTranscriptionRequest;
use crate::images::{
    BackgroundRemovalRequest, ImageEditRequest, ImageMultiEditRequest, ImageUpscaleRequest,
    OpenAiImageEditRequest, OpenAiImageVariationRequest,
};

/// Names the fields that may hold a request's file.
pub trait FileFields {
    /// At least one of these must be sent; the error names the first. Empty: no file is required.
    const REQUIRED_ANY: &'static [&'static str];
}

impl FileFields for VideoTranscriptionRequest {
    const REQUIRED_ANY: &'static [&'static str] = &[];
}

impl FileFields for BackgroundRemovalRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image", "image_url"];
}

impl FileFields for ImageEditRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}

impl FileFields for ImageMultiEditRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["images"];
}

impl FileFields for OpenAiImageEditRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}

impl FileFields for OpenAiImageVariationRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}

impl FileFields for ImageUpscaleRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}
