//! A session in the page's own thread, ticked whenever it is asked: for tests, where nothing else may move.

use tandem_core::experiment::command::Command;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::Report;

use super::SessionHandle;
use super::inbox::Inbox;

/// A session that works only while [`SessionHandle::poll`] runs, by a clock that only readings of it advance.
#[derive(Debug, Default)]
pub struct Inline {
    session: Session,
    inbox: Inbox,
    seconds: f64,
}

impl SessionHandle for Inline {
    fn send(&mut self, command: Command) {
        self.session.apply(command);
    }

    fn poll(&mut self) -> Vec<Report> {
        let seconds = &mut self.seconds;
        self.session.tick(&mut || {
            *seconds += 0.001;
            *seconds
        });
        for report in self.session.take_reports() {
            self.inbox.push(report);
        }
        self.inbox.take()
    }

    fn take_failure(&mut self) -> Option<String> {
        None
    }

    fn restart(&mut self) {
        *self = Self::default();
    }
}
