//! The stores that objects are kept in: a directory or an S3 bucket.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use moment::Timestamp;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use uuid::Uuid;

/// Objects that one listing returns at most.
const LISTED_MAX: usize = 10_000;
/// Timeout of one operation of the store.
pub(crate) const QUESTION_TIMEOUT: Duration = Duration::from_secs(30);

/// A directory or bucket of objects, by their ids.
#[derive(Clone)]
pub struct MediaStore {
    pub(crate) objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

/// A bucket and its endpoint. Default credentials: those of the environment (`AWS_ACCESS_KEY_ID`
/// and the like) or of the machine's role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct S3Location {
    pub bucket: String,
    pub prefix: String,
    /// For servers other than Amazon's, such as `http://127.0.0.1:9000`.
    pub endpoint: Option<String>,
    pub region: Option<String>,
    /// Access key id and secret; overrides the environment's.
    pub credentials: Option<(String, String)>,
}

/// An error of a write, read or delete. Internal: never shown to a caller.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    #[error("the store of media cannot be used: {0}")]
    Unusable(String),
    #[error("the object is not there")]
    Missing,
    #[error("the object is not what was written")]
    Broken,
    #[error("the object has more than {0} bytes")]
    TooLarge(u64),
    #[error("the object is empty")]
    Empty,
    #[error("the store of media failed: {0}")]
    Failed(String),
    #[error("what was to be stored broke off: {0}")]
    Source(String),
}

impl From<object_store::Error> for MediaError {
    fn from(error: object_store::Error) -> MediaError {
        match error {
            object_store::Error::NotFound { .. } => MediaError::Missing,
            other => MediaError::Failed(other.to_string()),
        }
    }
}

impl MediaStore {
    /// Uses the files of a directory, which is created if missing. Writes are synced to disk.
    pub fn open_directory(path: &FilePath) -> Result<MediaStore, MediaError> {
        let unusable = |error: &dyn std::fmt::Display| {
            MediaError::Unusable(format!("{}: {error}", path.display()))
        };
        std::fs::create_dir_all(path).map_err(|error| unusable(&error))?;
        let files = LocalFileSystem::new_with_prefix(path).map_err(|error| unusable(&error))?;
        let files = files.with_fsync(true);
        Ok(MediaStore { objects: Arc::new(files), prefix: Path::default() })
    }

    /// Uses the objects of a bucket.
    #[cfg(feature = "s3")]
    pub fn open_bucket(location: &S3Location) -> Result<MediaStore, MediaError> {
        // Fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = object_store::aws::AmazonS3Builder::from_env();
        builder = builder.with_bucket_name(&location.bucket);
        if let Some(endpoint) = &location.endpoint {
            builder = builder.with_endpoint(endpoint).with_allow_http(true);
        }
        if let Some(region) = &location.region {
            builder = builder.with_region(region);
        }
        if let Some((id, secret)) = &location.credentials {
            builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        }
        let bucket = builder.build().map_err(|error| MediaError::Unusable(error.to_string()))?;
        Ok(MediaStore { objects: Arc::new(bucket), prefix: Path::from(location.prefix.as_str()) })
    }

    pub(crate) fn object_path(&self, object: Uuid) -> Path {
        self.prefix.clone().join(object.simple().to_string())
    }

    /// Deletes an object. Returns true if it is gone, also if it did not exist.
    pub async fn delete(&self, object: Uuid) -> Result<bool, MediaError> {
        let place = self.object_path(object);
        let deleting = async {
            match self.objects.delete(&place).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(MediaError::from(error)),
            }
            match self.objects.head(&place).await {
                Err(object_store::Error::NotFound { .. }) => Ok(true),
                Ok(_) => Ok(false),
                Err(error) => Err(error.into()),
            }
        };
        tokio::time::timeout(QUESTION_TIMEOUT, deleting)
            .await
            .map_err(|_| MediaError::Failed("it did not answer in time".to_owned()))?
    }

    /// The objects written before `moment`, unordered, at most `LISTED_MAX`.
    pub async fn written_before(&self, moment: Timestamp) -> Result<Vec<Uuid>, MediaError> {
        let mut listed = self.objects.list(Some(&self.prefix));
        let mut found = Vec::new();
        while let Some(object) = listed.next().await {
            let object = object?;
            let is_old = object.last_modified.timestamp_millis() < moment.ms();
            let name = object.location.filename().and_then(|name| Uuid::try_parse(name).ok());
            if let (true, Some(name)) = (is_old, name) {
                found.push(name);
            }
            if LISTED_MAX <= found.len() {
                break;
            }
        }
        Ok(found)
    }
}
