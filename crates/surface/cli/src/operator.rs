//! Performs operations: through the socket of the running service, or directly on the database.

use std::sync::Arc;
use std::time::Duration;

use config::sections::store::StoreConfig as StoreSection;
use control::actor::AuditActor;
use control::ledger_operations;
use control::operation::ControlOperation;
use control::reply::{ControlReply, LedgerVerification, ModelLine};
use control::service::ControlService;
use control::socket;
use control::socket::client::SocketClient;
use domain::catalogue::CatalogueModel;
use tokio::time::sleep;

use crate::command_environment::CommandEnvironment;
use crate::database::{self, DatabaseOpener, OpenDatabase};
use crate::engine::BuiltInEngine;
use crate::failure::CommandError;
use crate::local::{self, LocalEngine};
use crate::output::print_note;
use crate::wiring;

/// The maximum number of retries to learn the outcome of a command after its response was lost.
const OUTCOME_ASKED_MAX: usize = 3;
const OUTCOME_PAUSE: Duration = Duration::from_secs(1);

/// Executes commands the same way whether or not the service runs.
pub(crate) struct OperationClient<'a> {
    pub(crate) surroundings: &'a CommandEnvironment,
    pub(crate) engine: BuiltInEngine,
    way: ServiceAccess,
}

enum ServiceAccess {
    Running(SocketClient),
    /// No service runs, and the database is not open yet.
    Stopped,
    Opened(Box<ControlService>),
}

impl<'a> OperationClient<'a> {
    pub(crate) async fn connect(
        surroundings: &'a CommandEnvironment,
        engine: BuiltInEngine,
    ) -> Result<OperationClient<'a>, CommandError> {
        let path = socket::socket_path(&surroundings.data_dir.path);
        let client = SocketClient::connect(&path).await.map_err(|error| {
            CommandError::Unreachable(format!(
                "cannot reach the service through {}: {error}; are you the user it runs as?",
                path.display()
            ))
        })?;
        let way = client.map_or(ServiceAccess::Stopped, ServiceAccess::Running);
        Ok(OperationClient { surroundings, engine, way })
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.way, ServiceAccess::Running(_))
    }

    pub(crate) async fn perform(
        &mut self,
        operation: ControlOperation,
    ) -> Result<ControlReply, CommandError> {
        if let ServiceAccess::Stopped = self.way {
            self.way = ServiceAccess::Opened(Box::new(self.open().await?));
        }
        match &mut self.way {
            ServiceAccess::Running(client) => Ok(client.perform(&operation).await?),
            ServiceAccess::Opened(service) => {
                Ok(service.perform(&AuditActor::of_this_process(), operation).await?)
            }
            ServiceAccess::Stopped => unreachable!("the database was opened above"),
        }
    }

    /// Performs a money transfer that has an entry id. After a lost response it is sent again with
    /// the same id, which applies it at most once and returns the outcome. `again` is the
    /// equivalent command, shown if there is no response.
    pub(crate) async fn move_money(
        &mut self,
        operation: ControlOperation,
        again: &str,
    ) -> Result<ControlReply, CommandError> {
        let mut lost = match self.perform(operation.clone()).await {
            Err(CommandError::Lost(cause)) => cause,
            performed => return performed,
        };
        let operation = mark_as_repeat(operation);
        for _ in 0..OUTCOME_ASKED_MAX {
            print_note(&format!("the response was lost ({lost}); querying the outcome"));
            sleep(OUTCOME_PAUSE).await;
            let asked = match self.reconnect().await {
                Ok(()) => self.perform(operation.clone()).await,
                Err(failure) => Err(failure),
            };
            match asked {
                Err(CommandError::Lost(cause) | CommandError::Unreachable(cause)) => lost = cause,
                performed => return performed,
            }
        }
        Err(CommandError::Unreachable(format!(
            "it is not known whether this was done: {lost}. This command finds out, and moves money \
             at most once:\n  {again}"
        )))
    }

    /// Reconnects, because the service may have stopped or started since.
    async fn reconnect(&mut self) -> Result<(), CommandError> {
        if let ServiceAccess::Opened(_) = self.way {
            return Ok(());
        }
        self.way = OperationClient::connect(self.surroundings, self.engine).await?.way;
        Ok(())
    }

    /// Performs an operation that requires a running service.
    pub(crate) async fn perform_running(
        &mut self,
        operation: ControlOperation,
    ) -> Result<ControlReply, CommandError> {
        if !self.is_running() {
            let data_dir = self.surroundings.data_dir.path.display();
            return Err(CommandError::Unreachable(format!(
                "no service runs on {data_dir}; start it with `tollgate serve`, or name its \
                 directory with --data-dir"
            )));
        }
        self.perform(operation).await
    }

    /// Returns the catalogue of the running service, or else of the configuration. Needs no
    /// database.
    pub(crate) async fn list_models(&mut self) -> Result<Vec<ModelLine>, CommandError> {
        if !self.is_running() {
            let config = self.surroundings.gather_sources(Vec::new()).read()?;
            let local = LocalEngine::from_config(self.engine, self.surroundings, &config)?;
            let models =
                local::merge_models(config.models, local.as_ref()).map_err(CommandError::Failed)?;
            let weights_of =
                |model: &CatalogueModel| local.as_ref().and_then(|it| it.weights_of(model));
            let line = |model: &CatalogueModel| ModelLine::from_model(model, weights_of(model));
            return Ok(models.iter().map(line).collect());
        }
        match self.perform(ControlOperation::ListModels).await? {
            ControlReply::Models(models) => Ok(models),
            _ => Err(unexpected_reply_error()),
        }
    }

    /// Verifies the ledger, even if it is too damaged to be opened.
    pub(crate) async fn verify_ledger(&mut self) -> Result<LedgerVerification, CommandError> {
        if let ServiceAccess::Stopped = self.way {
            let ground = self.surroundings.gather_sources(Vec::new()).read_database_config()?;
            let store = self.open_database(&ground.store).await?.store;
            return Ok(ledger_operations::verify_ledger(store.as_ref()).await?);
        }
        match self.perform(ControlOperation::VerifyLedger).await? {
            ControlReply::Verified(verification) => Ok(verification),
            _ => Err(unexpected_reply_error()),
        }
    }

    async fn open(&self) -> Result<ControlService, CommandError> {
        let ground = self.surroundings.gather_sources(Vec::new()).read_database_config()?;
        let database = self.open_database(&ground.store).await?;
        let service = wiring::build_offline_service(database, Arc::new(ground.tiers)).await?;
        let development = &ground.development;
        service
            .create_default_account(development.enabled.then_some(development.starting_credit))
            .await?;
        service.add_built_in_characters().await?;
        Ok(service)
    }

    async fn open_database(&self, section: &StoreSection) -> Result<OpenDatabase, CommandError> {
        database::open_database(&self.surroundings.data_dir.path, section, DatabaseOpener::Command)
            .await
    }
}

/// Marks an operation as a repeat if its id alone does not identify it.
fn mark_as_repeat(operation: ControlOperation) -> ControlOperation {
    match operation {
        ControlOperation::RefundCharge { charge, amount, reason, .. } => {
            ControlOperation::RefundCharge { charge, amount, reason, is_repeat: true }
        }
        other => other,
    }
}

/// Quotes a text for a shell.
pub(crate) fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The error for a reply of an unexpected type.
pub(crate) fn unexpected_reply_error() -> CommandError {
    CommandError::Unreachable(
        "the service gave a strange answer; is it of another version?".to_owned(),
    )
}
