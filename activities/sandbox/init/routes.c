/* Routes that the sandbox's network has from the start; the payload has no right to change them. */
#include "init.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct route_request {
  struct nlmsghdr header;
  struct rtmsg route;
  struct rtattr attribute;
  struct in_addr address;
};

void forbid_link_local(void) {
  struct route_request request = {
      .header = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_NEWROUTE, .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK},
      .route = {.rtm_family = AF_INET, .rtm_dst_len = 16, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_STATIC,
                .rtm_scope = RT_SCOPE_UNIVERSE, .rtm_type = RTN_UNREACHABLE},
      .attribute = {.rta_len = RTA_LENGTH(sizeof(struct in_addr)), .rta_type = RTA_DST},
      .address = {.s_addr = htonl(0xa9fe0000)},
  };
  struct {
    struct nlmsghdr header;
    struct nlmsgerr error;
  } answer;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0 || send(fd, &request, sizeof request, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < (ssize_t)sizeof answer)
    fail("cannot set the sandbox's routes: %s", strerror(errno));
  if (answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error)
    fail("cannot set the sandbox's routes: %s", strerror(-answer.error.error));
  close(fd);
}
