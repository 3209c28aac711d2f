//! Tests of the operations over a real socket.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ControlFixture;
use crate::actor::AuditActor;
use crate::operation::{ControlOperation, OperationError};
use crate::reply::ControlReply;
use crate::socket;
use crate::socket::client::{SocketClient, SocketError};
use crate::socket::server::SocketServer;

struct SocketFixture {
    path: PathBuf,
    service: Arc<crate::service::ControlService>,
    tasks: TaskTracker,
    stop: CancellationToken,
    _folder: TempDir,
}

impl SocketFixture {
    async fn start() -> SocketFixture {
        let ControlFixture { service, folder } = ControlFixture::founded().await;
        let path = socket::socket_path(folder.path());
        let service = Arc::new(service);
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let server = SocketServer::bind(&path).unwrap();
        tasks.spawn(Arc::new(server).serve(Arc::clone(&service), tasks.clone(), stop.clone()));
        SocketFixture { path, service, tasks, stop, _folder: folder }
    }

    async fn client(&self) -> SocketClient {
        SocketClient::connect(&self.path).await.unwrap().expect("the service listens")
    }

    async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        assert!(!self.path.exists());
    }
}

#[tokio::test]
async fn an_operation_over_the_socket_answers_as_it_does_here() {
    let listening = SocketFixture::start().await;
    let client = listening.client().await;
    let operations = [
        ControlOperation::ListAccounts,
        ControlOperation::ShowAccount { name: "default".to_owned() },
        ControlOperation::ListModels,
        ControlOperation::VerifyLedger,
        ControlOperation::Ping,
    ];
    for operation in operations {
        let here = listening
            .service
            .perform(&AuditActor::of_this_process(), operation.clone())
            .await
            .unwrap();
        let there = client.perform(&operation).await.unwrap();
        assert_eq!(there, here);
    }
    let nobody = ControlOperation::ShowAccount { name: "nobody".to_owned() };
    let refused = client.perform(&nobody).await.unwrap_err();
    assert!(matches!(refused, SocketError::Operation(OperationError::Refused(_))), "{refused}");
    drop(client);
    listening.end().await;
}

#[tokio::test]
async fn a_person_may_take_an_hour_between_two_operations() {
    let listening = SocketFixture::start().await;
    let client = listening.client().await;
    assert!(client.perform(&ControlOperation::Ping).await.is_ok());
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(3600)).await;
    tokio::time::resume();
    assert!(client.perform(&ControlOperation::Ping).await.is_ok());
    listening.end().await;
}

#[tokio::test]
async fn nobody_listens_where_there_is_no_socket_or_only_a_dead_one() {
    let folder = TempDir::new().unwrap();
    let path = socket::socket_path(folder.path());
    assert!(SocketClient::connect(&path).await.unwrap().is_none());
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    assert!(SocketClient::connect(&path).await.unwrap().is_none());
    // A new service replaces the socket file of the crashed one.
    let server = SocketServer::bind(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    drop(server);
    assert!(!path.exists());
}

#[tokio::test]
async fn nonsense_is_refused_and_the_connection_goes_on() {
    let listening = SocketFixture::start().await;
    let mut stream = BufReader::new(UnixStream::connect(&listening.path).await.unwrap());
    for nonsense in ["", "{}", "[", "{\"operation\":\"drop_everything\"}", "\u{0}"] {
        let line = say(&mut stream, nonsense.as_bytes()).await;
        assert!(line.starts_with("{\"error\":{\"refused\":"), "{line}");
    }
    let line = say(&mut stream, b"{\"operation\":\"ping\"}").await;
    assert!(line.starts_with("{\"done\":{\"status\":"), "{line}");
    drop(stream);
    listening.end().await;
}

#[tokio::test]
async fn a_line_without_end_is_cut_off() {
    let listening = SocketFixture::start().await;
    let mut stream = UnixStream::connect(&listening.path).await.unwrap();
    let endless = vec![b'x'; 1024 * 1024];
    // The service may close the connection before everything is sent.
    let _ = stream.write_all(&endless).await;
    let _ = stream.shutdown().await;
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert_eq!(answer, "");
    let client = listening.client().await;
    assert!(matches!(client.perform(&ControlOperation::Ping).await, Ok(ControlReply::Status(_))));
    drop(client);
    listening.end().await;
}

async fn say(stream: &mut BufReader<UnixStream>, line: &[u8]) -> String {
    stream.write_all(line).await.unwrap();
    stream.write_all(b"\n").await.unwrap();
    let mut answer = String::new();
    stream.read_line(&mut answer).await.unwrap();
    answer
}
