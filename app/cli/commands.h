// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command_parser.h"
#include "app/cli/context.h"

namespace assay::cli {

/// Each adds one command below `parent`: its options, its help, and a callback that sets `context.action`. `context`
/// outlives the parser. The file that defines it is named like the command.
void addSkillValidate(Command& parent, Context& context);
void addSkillPublish(Command& parent, Context& context);
void addSkillImport(Command& parent, Context& context);
void addSkillList(Command& parent, Context& context);
void addSkillShow(Command& parent, Context& context);
void addSkillHistory(Command& parent, Context& context);
void addSkillDiff(Command& parent, Context& context);
void addSkillCapabilities(Command& parent, Context& context);
void addSkillPromote(Command& parent, Context& context);
void addSkillWithdraw(Command& parent, Context& context);
void addSkillStop(Command& parent, Context& context);
void addSkillCompare(Command& parent, Context& context);
void addSkillExport(Command& parent, Context& context);
void addSkillDelete(Command& parent, Context& context);

void addSampleList(Command& parent, Context& context);
void addSampleSave(Command& parent, Context& context);
void addSampleDelete(Command& parent, Context& context);

void addProposalList(Command& parent, Context& context);
void addProposalShow(Command& parent, Context& context);
void addProposalComment(Command& parent, Context& context);
void addProposalResolve(Command& parent, Context& context);
void addProposalAcknowledge(Command& parent, Context& context);
void addProposalTest(Command& parent, Context& context);
void addProposalApprove(Command& parent, Context& context);        // in proposal_verdict.cpp
void addProposalRequestChanges(Command& parent, Context& context); // likewise
void addProposalRetract(Command& parent, Context& context);
void addProposalPromote(Command& parent, Context& context);
void addProposalWithdraw(Command& parent, Context& context);

void addAgentCreate(Command& parent, Context& context);
void addAgentList(Command& parent, Context& context);
void addAgentShow(Command& parent, Context& context);
void addAgentDelete(Command& parent, Context& context);

void addRun(Command& parent, Context& context);
void addExec(Command& parent, Context& context);
void addFinish(Command& parent, Context& context);
void addRunsList(Command& parent, Context& context);
void addRunsShow(Command& parent, Context& context);
void addRunsManifest(Command& parent, Context& context);
void addRunsEvents(Command& parent, Context& context);
void addRunsCancel(Command& parent, Context& context);
void addArtifactGet(Command& parent, Context& context);

void addAuditList(Command& parent, Context& context);
void addAuditVerify(Command& parent, Context& context);
void addAuditExport(Command& parent, Context& context);

void addServe(Command& parent, Context& context);
void addTokenCreate(Command& parent, Context& context);
void addTokenList(Command& parent, Context& context);
void addTokenRevoke(Command& parent, Context& context);
void addScopeShow(Command& parent, Context& context);
void addScopeSet(Command& parent, Context& context);
void addStopAdd(Command& parent, Context& context);
void addStopList(Command& parent, Context& context);
void addStopLift(Command& parent, Context& context);
void addBaseBuild(Command& parent, Context& context);
void addBaseList(Command& parent, Context& context);
void addBackup(Command& parent, Context& context);

void addStoreCutover(Command& parent, Context& context);
void addCollect(Command& parent, Context& context);
void addHealth(Command& parent, Context& context);
void addDigest(Command& parent, Context& context);

/// The whole command line.
void addCommands(Command& root, Context& context);

} // namespace assay::cli
