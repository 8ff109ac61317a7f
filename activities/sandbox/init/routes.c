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

int ask_routing(struct nlmsghdr *request) {
  struct {
    struct nlmsghdr header;
    struct nlmsgerr error;
  } answer;
  request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return -1;
  bool asked = send(fd, request, request->nlmsg_len, 0) >= 0 && recv(fd, &answer, sizeof answer, 0) >= (ssize_t)sizeof answer;
  int error = errno;
  close(fd);
  errno = asked ? -answer.error.error : error;
  return asked && answer.error.error == 0 ? 0 : -1;
}

int forbid_link_local(void) {
  struct route_request request = {
      .header = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_NEWROUTE, .nlmsg_flags = NLM_F_CREATE},
      .route = {.rtm_family = AF_INET, .rtm_dst_len = 16, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_STATIC,
                .rtm_scope = RT_SCOPE_UNIVERSE, .rtm_type = RTN_UNREACHABLE},
      .attribute = {.rta_len = RTA_LENGTH(sizeof(struct in_addr)), .rta_type = RTA_DST},
      .address = {.s_addr = htonl(0xa9fe0000)},
  };
  return ask_routing(&request.header);
}
