// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

void addSkillCommands(Command& root, Context& context)
{
    Command skill = root.addGroup("skill", "Validate, publish and read skills");
    addSkillValidate(skill, context);
    addSkillPublish(skill, context);
    addSkillImport(skill, context);
    addSkillList(skill, context);
    addSkillShow(skill, context);
    addSkillHistory(skill, context);
    addSkillDiff(skill, context);
    addSkillCapabilities(skill, context);
    addSkillPromote(skill, context);
    addSkillWithdraw(skill, context);
    addSkillStop(skill, context);
    addSkillCompare(skill, context);
    addSkillExport(skill, context);
    addSkillDelete(skill, context);
}

void addReviewCommands(Command& root, Context& context)
{
    Command proposal = root.addGroup("proposal", "Review revisions before they become current");
    addProposalList(proposal, context);
    addProposalShow(proposal, context);
    addProposalComment(proposal, context);
    addProposalResolve(proposal, context);
    addProposalAcknowledge(proposal, context);
    addProposalTest(proposal, context);
    addProposalApprove(proposal, context);
    addProposalRequestChanges(proposal, context);
    addProposalRetract(proposal, context);
    addProposalPromote(proposal, context);
    addProposalWithdraw(proposal, context);
    Command sample = root.addGroup("sample", "Saved inputs of a skill, to test revisions with");
    addSampleList(sample, context);
    addSampleSave(sample, context);
    addSampleDelete(sample, context);
}

void addAgentCommands(Command& root, Context& context)
{
    Command agent = root.addGroup("agent", "Define agents: which skills they use, and what they are granted");
    addAgentCreate(agent, context);
    addAgentList(agent, context);
    addAgentShow(agent, context);
    addAgentDelete(agent, context);
}

void addRunCommands(Command& root, Context& context)
{
    addRun(root, context);
    addExec(root, context);
    addFinish(root, context);
    Command runs = root.addGroup("runs", "Read and stop runs");
    addRunsList(runs, context);
    addRunsShow(runs, context);
    addRunsManifest(runs, context);
    addRunsEvents(runs, context);
    addRunsCancel(runs, context);
    Command artifact = root.addGroup("artifact", "Read what runs left");
    addArtifactGet(artifact, context);
}

void addServerCommands(Command& root, Context& context)
{
    addHealth(root, context);
    Command audit = root.addGroup("audit", "Read, export and verify the audit ledger");
    addAuditList(audit, context);
    addAuditVerify(audit, context);
    addAuditExport(audit, context);
    addServe(root, context);
    Command token = root.addGroup("token", "Make and revoke tokens");
    addTokenCreate(token, context);
    addTokenList(token, context);
    addTokenRevoke(token, context);
    Command scope = root.addGroup("scope", "How revisions of a scope become current");
    addScopeShow(scope, context);
    addScopeSet(scope, context);
    Command stop = root.addGroup("stop", "Content that runs nowhere (operator)");
    addStopAdd(stop, context);
    addStopList(stop, context);
    addStopLift(stop, context);
    Command base = root.addGroup("base", "The pinned root that boxes are made of");
    addBaseBuild(base, context);
    addBaseList(base, context);
    addBackup(root, context);
    addCollect(root, context);
    Command store = root.addGroup("store", "Where packages and artifacts are kept");
    addStoreCutover(store, context);
}

} // namespace

void addCommands(Command& root, Context& context)
{
    root.flag("--json", context.wantsJson, "Print JSON");
    root.option("--url", context.flags.url, "Server: http://HOST:PORT, https://HOST:PORT or unix:/PATH [ASSAY_URL]");
    root.option("--profile", context.flags.profile, "File with url, token, ca, fingerprint [ASSAY_PROFILE]");
    root.option("--ca", context.flags.ca, "PEM file of the authority to trust [ASSAY_CA]");
    root.option("--fingerprint", context.flags.fingerprint,
                "SHA-256 of the one certificate to trust [ASSAY_FINGERPRINT]");
    addSkillCommands(root, context);
    addReviewCommands(root, context);
    addAgentCommands(root, context);
    addRunCommands(root, context);
    addServerCommands(root, context);
    addDigest(root, context);
}

} // namespace assay::cli
