//! `[media]`: storage of generated images, audio and video until they are retrieved.

use std::path::PathBuf;

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

pub const SECTION: ConfigSection = ConfigSection {
    name: "media",
    form: SectionForm::One,
    doc: "Storage of generated images, audio and video until they are retrieved.",
    keys: &[
        ConfigKey::with_default(
            "url",
            ValueKind::Url(&["file:", "s3://"]),
            "\"file:media\"",
            "`file:` and a directory, relative to the data directory, or `s3://bucket/prefix`. S3 \
             credentials are taken from the environment (AWS_ACCESS_KEY_ID and related variables) \
             or from the machine's role.",
        ),
        ConfigKey::optional(
            "endpoint",
            ValueKind::Url(HTTP),
            "The URL of an S3 service other than Amazon's, such as \"http://127.0.0.1:9000\".",
        ),
        ConfigKey::optional("region", ValueKind::Text, "The region of the bucket."),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaConfig {
    /// A directory, relative to the data directory.
    Directory(PathBuf),
    S3 {
        bucket: String,
        prefix: String,
        endpoint: Option<String>,
        region: Option<String>,
    },
}

pub(crate) fn read_media_config(reader: &TableReader<'_>) -> Option<MediaConfig> {
    let url = reader.url("url")?;
    if let Some(place) = url.strip_prefix("s3://") {
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        return Some(MediaConfig::S3 {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
            endpoint: reader.url("endpoint").map(|url| url.trim_end_matches('/').to_owned()),
            region: reader.text("region"),
        });
    }
    for key in ["endpoint", "region"] {
        if reader.has_key(key) {
            reader.report_fault(key, format!("`{key}` in [media] is for `s3://` only"));
        }
    }
    let directory = url.strip_prefix("file:").unwrap_or_default();
    if directory.is_empty() {
        reader.report_fault("url", "`url` in [media] names no directory; write \"file:media\"");
        return None;
    }
    Some(MediaConfig::Directory(PathBuf::from(directory)))
}
