/*
 * The network of a container, switched from inside by routing rules: the payload has no rights over the network. Rules,
 * not routes: they stay whatever the engine does to interfaces and routes.
 */
#include "init.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* After the table of the container's own addresses (0), before all others. */
#define PRIORITY_OFF 1
#define PRIORITY_RESOLVER 2
#define PRIORITY_UNREACHABLE 3
/* Where Docker's resolver listens inside the container, with the host's network behind it. */
#define ENGINE_RESOLVER 0x7f00000b

struct rule_request {
  struct nlmsghdr header;
  struct fib_rule_hdr rule;
  char attributes[64];
};

static void add_attribute(struct rule_request *request, unsigned short type, const void *data, unsigned short size) {
  struct rtattr *attribute = (struct rtattr *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));
  attribute->rta_type = type;
  attribute->rta_len = (unsigned short)RTA_LENGTH(size);
  memcpy(RTA_DATA(attribute), data, size);
  request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + (unsigned)RTA_LENGTH(size);
}

/* Makes all of the family, or the network when it is given, unreachable, or takes that back. */
static bool rule(bool add, unsigned char family, uint32_t priority, const struct in_addr *network, unsigned char bits) {
  struct rule_request request = {
      .header = {.nlmsg_len = NLMSG_LENGTH(sizeof request.rule), .nlmsg_type = add ? RTM_NEWRULE : RTM_DELRULE,
                 .nlmsg_flags = add ? NLM_F_CREATE | NLM_F_EXCL : 0},
      .rule = {.family = family, .action = FR_ACT_UNREACHABLE, .dst_len = bits},
  };
  add_attribute(&request, FRA_PRIORITY, &priority, sizeof priority);
  if (network) add_attribute(&request, FRA_DST, network, sizeof *network);
  if (ask_routing(&request.header) == 0) return true;
  if (errno == (add ? EEXIST : ENOENT)) return true;
  /* A kernel without IPv6 has nothing to be cut off. */
  return family == AF_INET6 && errno == EAFNOSUPPORT;
}

static bool engine_resolver(bool reachable) {
  struct {
    struct nlmsghdr header;
    struct rtmsg route;
    struct rtattr attribute;
    struct in_addr address;
  } request = {
      .header = {.nlmsg_len = sizeof request, .nlmsg_type = reachable ? RTM_DELROUTE : RTM_NEWROUTE, .nlmsg_flags = reachable ? 0 : NLM_F_CREATE},
      .route = {.rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_table = RT_TABLE_LOCAL, .rtm_protocol = RTPROT_STATIC,
                .rtm_scope = reachable ? RT_SCOPE_NOWHERE : RT_SCOPE_UNIVERSE, .rtm_type = RTN_UNREACHABLE},
      .attribute = {.rta_len = RTA_LENGTH(sizeof(struct in_addr)), .rta_type = RTA_DST},
      .address = {.s_addr = htonl(ENGINE_RESOLVER)},
  };
  return ask_routing(&request.header) == 0 || errno == (reachable ? ESRCH : EEXIST);
}

const char *rules_switch(bool on) {
  static char problem[256];
  if (engine_resolver(on) && rule(!on, AF_INET, PRIORITY_OFF, NULL, 0)) return NULL;
  snprintf(problem, sizeof problem, "cannot switch the network: %s (the container needs CAP_NET_ADMIN)", strerror(errno));
  return problem;
}

/* Names are looked up where the container is told to, even when that is a neighbour or the host; nothing else of it. */
static void reach_resolvers(void) {
  char *list = read_file(AT_FDCWD, "/etc/resolv.conf", NULL), *at = list, name[64];
  struct fib_rule_port_range port = {.start = 53, .end = 53};
  uint32_t priority = PRIORITY_RESOLVER;
  for (char *line; at && (line = strsep(&at, "\n"));) {
    struct in_addr address;
    if (sscanf(line, "nameserver %63s", name) != 1 || inet_pton(AF_INET, name, &address) != 1) continue;
    struct rule_request request = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof request.rule), .nlmsg_type = RTM_NEWRULE, .nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL},
        .rule = {.family = AF_INET, .action = FR_ACT_TO_TBL, .table = RT_TABLE_MAIN, .dst_len = 32},
    };
    add_attribute(&request, FRA_PRIORITY, &priority, sizeof priority);
    add_attribute(&request, FRA_DST, &address, sizeof address);
    add_attribute(&request, FRA_DPORT_RANGE, &port, sizeof port);
    if (ask_routing(&request.header) && errno != EEXIST) note("no rule for the resolver %s: %s", name, strerror(errno));
  }
  free(list);
}

const char *rules_begin(const struct config *config) {
  static char problem[256];
  reach_resolvers();
  for (int i = 0; i < config->unreachable_count; i++) {
    char *address = text("%s", config->unreachable[i]), *slash = strchr(address, '/');
    struct in_addr network;
    if (slash) *slash = 0;
    bool set = inet_pton(AF_INET, address, &network) == 1 &&
               rule(true, AF_INET, PRIORITY_UNREACHABLE, &network, slash ? (unsigned char)atoi(slash + 1) : 32);
    free(address);
    if (set) continue;
    snprintf(problem, sizeof problem, "cannot make %s unreachable: %s", config->unreachable[i], strerror(errno));
    return problem;
  }
  /* The engine's network is of version 4; what the kernel configures by itself in version 6 is a way to neighbours. */
  if (!rule(true, AF_INET6, PRIORITY_OFF, NULL, 0)) return "cannot cut IPv6 off";
  return rules_switch(config->network);
}
