//! The operator's view of a service: the state that operations read and change.

use std::sync::{Arc, OnceLock};

use access::KeyRing;
use domain::catalogue::{CatalogueModel, ModelSelection};
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::EntropySource;
use domain::limits::tiers::RateLimitTiers;
use ledger::Ledger;
use moment::{Clock, Timestamp};
use store::Store;
use store::error::StoreError;
use store::job::JobId;

use crate::actor::AuditActor;
use crate::debits::DebitRequest;
use crate::ledger_operations::verify_ledger;
use crate::node_forwarder::NodeForwarder;
use crate::operation::{ControlOperation, OperationError};
use crate::payments::PaymentActions;
use crate::refunds::RefundOrder;
use crate::reply::{ControlReply, JobProgress, ModelLine, ReloadReport, ServiceStatus};

/// Reads the catalogue's files again and makes the new catalogue current. Returns the number of
/// models; on an error the old catalogue stays.
pub type CatalogueReload = Arc<dyn Fn() -> Result<usize, String> + Send + Sync>;

pub struct ControlService {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub keys: Arc<KeyRing>,
    pub catalogue: Arc<CurrentCatalogue>,
    /// The rate-limit tiers that an account may have.
    pub tiers: Arc<RateLimitTiers>,
    pub reload: CatalogueReload,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn EntropySource>,
    pub started_at: Timestamp,
    /// The API's base URL on this machine; `None` while the service is stopped.
    pub api_url: Option<String>,
    /// Returns the download state of a local model's files.
    pub weights: WeightsOf,
    /// Set once payments are accepted; empty while the service is stopped.
    pub payments: OnceLock<Arc<dyn PaymentActions>>,
    /// Set if this process runs jobs.
    pub progress_of: OnceLock<ProgressOf>,
    /// Set if there are other nodes.
    pub elsewhere: OnceLock<Arc<dyn NodeForwarder>>,
}

/// Returns `ready` or the progress of the download; `None` for a model that runs elsewhere.
pub type WeightsOf = Arc<dyn Fn(&CatalogueModel) -> Option<String> + Send + Sync>;

/// Returns a job's progress; `None` if this node does not process it or its provider reports none.
pub type ProgressOf = Arc<dyn Fn(JobId) -> Option<JobProgress> + Send + Sync>;

impl ControlService {
    pub(crate) async fn perform_here(
        &self,
        by: &AuditActor,
        operation: ControlOperation,
    ) -> Result<ControlReply, OperationError> {
        match operation {
            ControlOperation::Ping => Ok(ControlReply::Status(self.status())),
            ControlOperation::CreateAccount { name } => {
                self.create_account(&name).await.map(ControlReply::Account)
            }
            ControlOperation::SetTier { name, tier } => {
                self.set_tier(&name, &tier).await.map(ControlReply::Account)
            }
            ControlOperation::ListAccounts => {
                self.list_accounts().await.map(ControlReply::Accounts)
            }
            ControlOperation::ShowAccount { name } => {
                self.show_account(&name).await.map(ControlReply::Account)
            }
            ControlOperation::CreditAccount { entry, name, amount, currency } => {
                let credited = self.credit_account(by, entry, &name, &amount, currency).await;
                credited.map(ControlReply::Account)
            }
            ControlOperation::LinkWallet { name, wallet } => {
                self.link_wallet(by, &name, &wallet).await.map(ControlReply::Account)
            }
            ControlOperation::UnlinkWallet { name, wallet } => {
                self.unlink_wallet(by, &name, &wallet).await.map(ControlReply::Account)
            }
            ControlOperation::FreezeAccount { name } => {
                self.set_frozen(by, &name, Some(self.clock.now())).await.map(ControlReply::Account)
            }
            ControlOperation::UnfreezeAccount { name } => {
                self.set_frozen(by, &name, None).await.map(ControlReply::Account)
            }
            ControlOperation::CreateKey(new) => {
                self.create_key(new).await.map(ControlReply::CreatedKey)
            }
            ControlOperation::ListKeys { account } => {
                self.list_keys(account.as_deref()).await.map(ControlReply::Keys)
            }
            ControlOperation::CreateOperatorKey(new) => {
                self.create_operator_key(by, new).await.map(ControlReply::CreatedKey)
            }
            ControlOperation::ListOperatorKeys => {
                self.list_operator_keys().await.map(ControlReply::Keys)
            }
            ControlOperation::CreateOperatorLink => {
                self.create_operator_link(by).await.map(ControlReply::OperatorLink)
            }
            ControlOperation::RevokeKey { id } => {
                self.revoke_key(id).await.map(ControlReply::RevokedKey)
            }
            ControlOperation::RevokeAllKeys { account } => {
                self.revoke_all_keys(account.as_deref()).await.map(ControlReply::Keys)
            }
            ControlOperation::RotateSecret { name } => {
                self.rotate_secret(name).await.map(|()| ControlReply::Done)
            }
            ControlOperation::ForgetPepper => {
                self.forget_pepper().await.map(|()| ControlReply::Done)
            }
            operation => self.perform_on_catalogue(by, operation).await,
        }
    }

    /// Performs operations on models, jobs and characters.
    async fn perform_on_catalogue(
        &self,
        by: &AuditActor,
        operation: ControlOperation,
    ) -> Result<ControlReply, OperationError> {
        match operation {
            ControlOperation::ListModels => Ok(ControlReply::Models(self.list_models())),
            ControlOperation::ReloadModels => {
                self.reload_models().await.map(ControlReply::Reloaded)
            }
            ControlOperation::ListJobs { account, open_only } => {
                self.list_jobs(account.as_deref(), open_only).await.map(ControlReply::Jobs)
            }
            ControlOperation::ShowJob { id } => self.show_job(id).await.map(ControlReply::Job),
            ControlOperation::CancelJob { id } => self.cancel_job(id).await.map(ControlReply::Job),
            ControlOperation::ImportCharacter { file } => {
                self.import_character(&file).await.map(|it| ControlReply::Characters(vec![it]))
            }
            ControlOperation::ExportCharacter { slug } => {
                self.export_character(&slug).await.map(ControlReply::Card)
            }
            ControlOperation::ListCharacters => {
                self.list_characters().await.map(ControlReply::Characters)
            }
            operation => self.perform_on_money(by, operation).await,
        }
    }

    /// Performs operations on charges, payments and the ledger as a whole.
    async fn perform_on_money(
        &self,
        by: &AuditActor,
        operation: ControlOperation,
    ) -> Result<ControlReply, OperationError> {
        match operation {
            ControlOperation::VerifyLedger => {
                verify_ledger(self.store.as_ref()).await.map(ControlReply::Verified)
            }
            ControlOperation::ExportLedger { after_seq, format } => {
                self.export_ledger(after_seq, format).await.map(ControlReply::Journal)
            }
            ControlOperation::DebitAccount { entry, name, amount, currency, reason } => {
                let debit = DebitRequest { entry, name, amount, currency, reason };
                self.debit_account(by, debit).await.map(ControlReply::Account)
            }
            ControlOperation::RefundCharge { charge, amount, reason, is_repeat } => {
                let refund = RefundOrder { charge, amount, reason, is_repeat };
                self.refund_charge(by, refund).await.map(ControlReply::Refunded)
            }
            ControlOperation::MendTime { reason } => {
                self.mend_time(by, &reason).await.map(ControlReply::TimeMended)
            }
            ControlOperation::AuditLedger { after_seq } => {
                self.audit_trail(after_seq).await.map(ControlReply::Audit)
            }
            ControlOperation::ListPayments { state, limit } => {
                self.list_payments(state.as_deref(), limit).await.map(ControlReply::Payments)
            }
            ControlOperation::ShowPayment { id } => {
                self.show_payment(&id).await.map(ControlReply::Payment)
            }
            ControlOperation::RecheckPayment { id } => {
                self.recheck_payment(by, &id).await.map(ControlReply::Payment)
            }
            ControlOperation::WriteOffPayment { id, reason } => {
                self.write_off_payment(by, &id, &reason).await.map(ControlReply::Payment)
            }
            ControlOperation::Backup { path } => {
                self.back_up(by, &path).await.map(ControlReply::BackedUp)
            }
            other => Err(OperationError::Failed(format!("unsupported operation {other:?}"))),
        }
    }

    fn status(&self) -> ServiceStatus {
        let ledger = self.ledger.status();
        ServiceStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            started_at: self.started_at.to_string(),
            can_write: ledger.is_running,
            journal_ahead_s: ledger.journal_ahead.map(|ahead| ahead.as_secs()),
            api_url: self.api_url.clone(),
        }
    }

    fn list_models(&self) -> Vec<ModelLine> {
        let catalogue = self.catalogue.get();
        let now = self.clock.now();
        let models = catalogue.list(ModelSelection::All, now);
        models.map(|model| ModelLine::from_model(model, (self.weights)(model))).collect()
    }

    async fn reload_models(&self) -> Result<ReloadReport, OperationError> {
        let reload = Arc::clone(&self.reload);
        // Reading files can be slow on a slow disk; requests must not wait for it.
        let reloaded = tokio::task::spawn_blocking(move || reload()).await;
        let reloaded = reloaded.map_err(|error| OperationError::Failed(error.to_string()))?;
        let models = reloaded.map_err(OperationError::Refused)?;
        Ok(ReloadReport { models })
    }
}

impl From<StoreError> for OperationError {
    fn from(error: StoreError) -> OperationError {
        OperationError::Failed(error.to_string())
    }
}
