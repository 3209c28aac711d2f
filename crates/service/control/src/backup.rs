//! Backups of the database, made by the process that owns it while it runs.

use std::path::Path;

use crate::actor::AuditActor;
use crate::operation::OperationError;
use crate::reply::BackupReport;
use crate::service::ControlService;
use store::error::StoreError;
use store::write::WriteGroup;

impl ControlService {
    pub(crate) async fn back_up(
        &self,
        by: &AuditActor,
        path: &Path,
    ) -> Result<BackupReport, OperationError> {
        if !path.is_absolute() {
            let message = format!("{} is not an absolute path", path.display());
            return Err(OperationError::Refused(message));
        }
        let made_at = self.clock.now();
        let written = self.store.backup(path, made_at).await.map_err(|error| match error {
            StoreError::Unsuitable(message) => OperationError::Refused(message),
            other => other.into(),
        })?;
        let detail = format!("{} bytes", written.bytes);
        let told = self.build_audit_row(by, "backup", &path.display().to_string(), detail);
        self.store.commit(WriteGroup::from_write(told)).await?;
        Ok(BackupReport {
            path: path.display().to_string(),
            made_at: made_at.to_string(),
            bytes: written.bytes,
            last_transfer: written.last_seq,
        })
    }
}
