//! Where objects lie.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use moment::Timestamp;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use uuid::Uuid;

/// The most objects that one look at the store tells of.
const LISTED_MAX: usize = 10_000;
/// One question to the store.
pub(crate) const QUESTION_TIMEOUT: Duration = Duration::from_secs(30);

/// A place for objects, by their names.
#[derive(Clone)]
pub struct MediaStore {
    pub(crate) objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

/// A bucket, and where it is reached. Credentials are the environment's: `AWS_ACCESS_KEY_ID` and
/// its relatives, or what the machine's role gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct S3Location {
    pub bucket: String,
    pub prefix: String,
    /// For servers other than Amazon's, such as `http://127.0.0.1:9000`.
    pub endpoint: Option<String>,
    pub region: Option<String>,
    /// Instead of the environment's.
    pub credentials: Option<(String, String)>,
}

/// Why an object was not written, read or deleted. Never for a caller to see.
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
    /// Files in a directory, which is made if it is not there. What was written is on disk.
    pub fn directory(path: &FilePath) -> Result<MediaStore, MediaError> {
        let unusable = |error: &dyn std::fmt::Display| {
            MediaError::Unusable(format!("{}: {error}", path.display()))
        };
        std::fs::create_dir_all(path).map_err(|error| unusable(&error))?;
        let files = LocalFileSystem::new_with_prefix(path).map_err(|error| unusable(&error))?;
        let files = files.with_fsync(true);
        Ok(MediaStore { objects: Arc::new(files), prefix: Path::default() })
    }

    /// Objects of a bucket.
    #[cfg(feature = "s3")]
    pub fn s3(location: &S3Location) -> Result<MediaStore, MediaError> {
        // Fails only if there is one already.
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

    pub(crate) fn at(&self, object: Uuid) -> Path {
        self.prefix.clone().join(object.simple().to_string())
    }

    /// Deletes an object, and says whether it is gone. One that was not there is gone.
    pub async fn delete(&self, object: Uuid) -> Result<bool, MediaError> {
        let place = self.at(object);
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

    /// The objects that were written before a moment, in no order.
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
