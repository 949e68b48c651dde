//! Reports on their way to the page, merged as they arrive so that a hidden page, which draws nothing for minutes,
//! neither grows nor loses a point of a curve.

use tandem_core::experiment::snapshot::{Report, Snapshot};

/// Reports not yet read: a newer snapshot replaces an older one of the same run, except that curves are appended.
#[derive(Debug, Default)]
pub struct Inbox {
    reports: Vec<Report>,
}

impl Inbox {
    /// Takes a report in.
    pub fn push(&mut self, report: Report) {
        match (self.reports.last_mut(), report) {
            (Some(Report::Snapshot(older)), Report::Snapshot(newer)) if older.run == newer.run => {
                merge(older, *newer);
            }
            // Everything of an earlier run is void.
            (_, Report::Started(facts)) => {
                self.reports.retain(|report| matches!(report, Report::Refused(_)));
                self.reports.push(Report::Started(facts));
            }
            (_, report) => self.reports.push(report),
        }
    }

    /// All reports, oldest first.
    pub fn take(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }
}

/// Makes `older` the newer snapshot with both parts of the curve.
fn merge(older: &mut Snapshot, mut newer: Snapshot) {
    let known = older.evals_from + older.evals.len() as u32;
    if (older.evals_from..=known).contains(&newer.evals_from) {
        let repeated = (known - newer.evals_from) as usize;
        let mut evals = std::mem::take(&mut older.evals);
        evals.extend(newer.evals.drain(..).skip(repeated));
        newer.evals_from = older.evals_from;
        newer.evals = evals;
    }
    *older = newer;
}

#[cfg(test)]
mod tests {
    use tandem_core::experiment::snapshot::{EvalPoint, Facts};

    use super::*;

    fn snapshot(run: u32, update: u32, evals_from: u32, evals: &[u32]) -> Report {
        let evals = evals.iter().map(|&env_steps| EvalPoint { env_steps, ..EvalPoint::default() }).collect();
        Report::Snapshot(Box::new(Snapshot { run, update, evals_from, evals, ..Snapshot::default() }))
    }

    fn curve(report: &Report) -> (u32, Vec<u32>) {
        let Report::Snapshot(snapshot) = report else { panic!("not a snapshot: {report:?}") };
        (snapshot.update, snapshot.evals.iter().map(|point| point.env_steps).collect())
    }

    #[test]
    fn the_newest_snapshot_stays_and_the_curve_grows() {
        let mut inbox = Inbox::default();
        inbox.push(snapshot(1, 10, 0, &[0, 500]));
        inbox.push(snapshot(1, 20, 2, &[1000]));
        inbox.push(snapshot(1, 30, 3, &[]));
        let reports = inbox.take();
        assert_eq!(reports.len(), 1);
        assert_eq!(curve(&reports[0]), (30, vec![0, 500, 1000]));
        assert!(inbox.take().is_empty());
    }

    #[test]
    fn points_told_twice_stand_once() {
        let mut inbox = Inbox::default();
        inbox.push(snapshot(1, 10, 0, &[0, 500]));
        inbox.push(snapshot(1, 20, 0, &[0, 500, 1000]));
        assert_eq!(curve(&inbox.take()[0]), (20, vec![0, 500, 1000]));
    }

    #[test]
    fn a_new_run_voids_the_old_one() {
        let mut inbox = Inbox::default();
        inbox.push(snapshot(1, 10, 0, &[0]));
        inbox.push(Report::Started(Box::new(Facts { run: 2, ..Facts::default() })));
        inbox.push(snapshot(2, 0, 0, &[0]));
        let reports = inbox.take();
        assert_eq!(reports.len(), 2);
        assert!(matches!(reports[0], Report::Started(_)));
        assert_eq!(curve(&reports[1]), (0, vec![0]));
    }
}
