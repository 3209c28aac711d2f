//! The console: its pages, its sessions, and its operations.

use std::sync::Arc;

use api::console::assets::{ConsoleAssets, DocumentationPage, StaticAsset};
use api::console::{ConsoleState, OperateError, OperatorKey, RunOperation};
use config::sources::FlagSetting;
use control::actor::AuditActor;
use control::operation::{ControlOperation, OperationError};
use control::secrets::{SecretName, read_or_create_secret};
use control::service::ControlService;
use http_frame::engines::CurrentEngines;
use http_frame::session_state::SessionState;
use serde_json::{Value, json};

use super::weights::{self, WeightsOperation};
use crate::command_environment::CommandEnvironment;
use crate::doctor;
use crate::failure::CommandError;
use crate::local::LocalEngine;

/// An operation in addition to those of the control socket: checks that each provider answers.
const CHECK_PROVIDERS: &str = "check_providers";

/// The sources of the configuration, for later requests about it.
#[derive(Clone)]
pub(crate) struct ConsoleConfigSources {
    pub(crate) surroundings: CommandEnvironment,
    pub(crate) flags: Vec<FlagSetting>,
    pub(crate) engines: Arc<CurrentEngines>,
}

impl ConsoleConfigSources {
    pub(crate) fn new(
        surroundings: &CommandEnvironment,
        flags: &[FlagSetting],
        engines: &Arc<CurrentEngines>,
    ) -> ConsoleConfigSources {
        let (surroundings, flags) = (surroundings.clone(), flags.to_vec());
        ConsoleConfigSources { surroundings, flags, engines: Arc::clone(engines) }
    }
}

/// The console of a service that starts.
pub(crate) struct OpenConsole {
    pub(crate) console: Arc<ConsoleState>,
    pub(crate) sessions: Arc<SessionState>,
    /// On the first start, the token of a one-time sign-in link for the operator.
    pub(crate) link: Option<String>,
}

pub(crate) async fn open_console(
    service: &Arc<ControlService>,
    sources: ConsoleConfigSources,
    local: Option<LocalEngine>,
    is_first_start: bool,
) -> Result<OpenConsole, CommandError> {
    let (store, entropy) = (service.store.as_ref(), service.entropy.as_ref());
    let secret = read_or_create_secret(store, entropy, SecretName::Console).await?;
    let sessions = Arc::new(SessionState::new(&secret));
    let operate = build_operator(Arc::clone(service), sources, local);
    let console = Arc::new(ConsoleState::new(build_assets()).with_operator(operate));
    let mut link = None;
    if is_first_start {
        link = Some(service.create_operator_link(&AuditActor::of_service()).await?.token);
    }
    Ok(OpenConsole { console, sessions, link })
}

fn build_assets() -> ConsoleAssets {
    let file = |path: &str| {
        let file = console_assets::find_file(path)?;
        Some(StaticAsset { bytes: file.bytes, tag: file.tag })
    };
    let page = |page: &'static console_assets::EmbeddedPage| DocumentationPage {
        slug: page.slug,
        title: page.title,
        markdown: page.markdown,
        tag: page.tag,
        is_for_operators: page.is_for_operators,
    };
    ConsoleAssets { file, pages: console_assets::PAGES.iter().map(page).collect() }
}

fn build_operator(
    service: Arc<ControlService>,
    sources: ConsoleConfigSources,
    local: Option<LocalEngine>,
) -> RunOperation {
    Arc::new(move |by: OperatorKey, operation| {
        let (service, sources, local) = (Arc::clone(&service), sources.clone(), local.clone());
        Box::pin(async move {
            if operation["operation"] == CHECK_PROVIDERS {
                return check_providers(sources).await;
            }
            if let Ok(asked) = serde_json::from_value::<WeightsOperation>(operation.clone()) {
                return weights::perform_weights_operation(asked, &service, local.as_ref());
            }
            perform_operation(&service, &AuditActor::of_operator_key(&by.last6), operation).await
        })
    })
}

async fn perform_operation(
    service: &ControlService,
    by: &AuditActor,
    operation: Value,
) -> Result<Value, OperateError> {
    let operation: ControlOperation = serde_json::from_value(operation)
        .map_err(|error| OperateError::Refused(error.to_string()))?;
    // A browser must not choose where files are written on this machine.
    if let ControlOperation::Backup { .. } = operation {
        let message = "back up with `tollgate backup FILE` on the machine itself";
        return Err(OperateError::Refused(message.to_owned()));
    }
    // A stolen credential must not create others that outlive it.
    if let ControlOperation::CreateOperatorKey(_) | ControlOperation::CreateOperatorLink = operation
    {
        let message = "run `tollgate operator` on the machine itself";
        return Err(OperateError::Refused(message.to_owned()));
    }
    let reply = service.perform(by, operation).await.map_err(|error| match error {
        OperationError::Refused(message) => OperateError::Refused(message),
        OperationError::Failed(message) | OperationError::Unknown(message) => {
            OperateError::Failed(message)
        }
    })?;
    serde_json::to_value(reply).map_err(|error| OperateError::Failed(error.to_string()))
}

async fn check_providers(sources: ConsoleConfigSources) -> Result<Value, OperateError> {
    let config = sources.surroundings.gather_sources(sources.flags.clone()).read();
    let config = config.map_err(|error| OperateError::Refused(error.to_string()))?;
    let mut findings = doctor::providers::check_providers(&config.providers, &config.models).await;
    let faults = &sources.engines.metering_faults;
    findings.extend(config.providers.iter().filter_map(|provider| {
        let counts = faults.of_provider(&provider.id)?;
        Some(doctor::providers::metering_fault(&provider.id, counts))
    }));
    Ok(json!({ "providers": findings }))
}
