//! `/files`: files of callers, in OpenAI's form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::billing::SortOrder;

/// The form of an upload.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FileUpload {
    /// The file: at most 100 MB, unless the operator chose another bound.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    pub purpose: UploadPurpose,
    /// The moment from which `expires_after[seconds]` counts.
    #[serde(rename = "expires_after[anchor]")]
    pub expires_after_anchor: Option<ExpiryAnchor>,
    /// Time after which the file is deleted. The operator's own bound counts too.
    #[serde(rename = "expires_after[seconds]")]
    #[schemars(range(min = 3600, max = 2_592_000))]
    pub expires_after_seconds: Option<u64>,
}

/// The use of an uploaded file: JSON lines, the input of `POST /batches`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UploadPurpose {
    Batch,
}

/// The moment from which an expiry counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryAnchor {
    CreatedAt,
}

/// The use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilePurposeName {
    Batch,
    BatchOutput,
}

/// A file in a path.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FilePath {
    #[schemars(length(min = 1, max = 200))]
    pub file_id: String,
}

/// The query of `GET /files`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FileListQuery {
    /// The last file of the page before.
    #[schemars(length(min = 1, max = 200))]
    pub after: Option<String>,
    #[schemars(range(min = 1, max = 10_000), extend("default" = 10_000))]
    pub limit: Option<usize>,
    /// By the time of creation. Default: `desc`.
    #[schemars(extend("default" = "desc"))]
    pub order: Option<SortOrder>,
    pub purpose: Option<FilePurposeName>,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileObject {
    pub id: String,
    pub object: FileObjectKind,
    pub bytes: u64,
    /// Unix time in seconds.
    pub created_at: i64,
    /// Unix time in seconds, after which the file is deleted.
    pub expires_at: i64,
    pub filename: String,
    pub purpose: FilePurposeName,
    pub status: FileStatus,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileObjectKind {
    File,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    Processed,
}

/// A page of files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileList {
    pub object: ListKind,
    pub data: Vec<FileObject>,
    pub first_id: Option<String>,
    pub last_id: Option<String>,
    pub has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListKind {
    List,
}

/// A deleted file. Its content cannot be read from now on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileDeleted {
    pub id: String,
    pub object: FileObjectKind,
    pub deleted: bool,
}
